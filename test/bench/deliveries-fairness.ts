// What slow and dead receivers take from the others: of their rate, and of their time.
import { createTerminal, printTable } from '../../host/cli/terminal.ts'
import { nowMs } from './deliveries/child-calls.ts'
import { measureLatencies } from './deliveries/measure-latencies.ts'
import { type Receiver, startReceiver } from './deliveries/start-receiver.ts'
import { type Side, type SideName, startSide } from './deliveries/start-sides.ts'
import { median, quantile } from './measure/quantile.ts'
import { readOptions } from './measure/read-options.ts'
import { measureSyncs } from './measure/sync-times.ts'
import { describeMachine, printGoals, printTimes } from './report.ts'

const values = readOptions({
  quick: { type: 'boolean', default: false },
  /** Any of those that deliveries.ts compares. */
  side: { type: 'string', default: 'Annex, SQLite, in process' },
})
const name = values.side as SideName
const rounds = values.quick ? 1 : 3
const many = { receivers: 100, dead: 10, events: values.quick ? 50 : 400 }
const few = { receivers: 5, slowMs: 2_000, everyMs: 10, events: values.quick ? 300 : 1_000 }

const terminal = createTerminal(process)
terminal.say(describeMachine().text)
const shares: number[] = []
const rows: string[][] = []
for (let round = 0; round < rounds; round++) await measureShare()
const { alike, besideSlow } = await measureBesideSlow()
const syncs = await measureSyncs({ count: few.events, everyMs: few.everyMs })

terminal.say(
  `${many.events} events to ${many.receivers} receivers each, of which ${many.dead} never answer; rates of the others, ${rounds} rounds`,
)
printTable(terminal, ['all answer, deliveries/s', 'some never answer', 'share'], rows)
terminal.say(
  `${few.events} events to ${few.receivers} receivers each, one every ${few.everyMs} ms; one takes ${few.slowMs} ms to answer`,
)
printTimes(terminal, 'the other four', [
  ['all answer at once', alike],
  ['one is slow', besideSlow],
  ['one sync of this disk', syncs],
])
printGoals(terminal, [
  { name: 'rate of 90 receivers beside 10 dead ones', value: median(shares), atLeast: 0.9 },
  { name: 'p99 of four beside a slow one', value: quantile(besideSlow, 0.99), unit: 'ms', atMost: 50 },
])

async function measureShare(): Promise<void> {
  await withSide(many.receivers, async (receiver, side) => {
    const all = [...receiver.urls.keys()]
    const [dead, living] = [all.slice(0, many.dead), all.slice(many.dead)]
    await measureRateOf(receiver, side, living, { run: 'warm', events: Math.ceil(many.events / 4) })
    const before = await measureRateOf(receiver, side, living, { run: 'well', events: many.events })
    await side.call('settle', undefined)
    await receiver.call('behave', { receivers: dead, behaviour: 'never' })
    const beside = await measureRateOf(receiver, side, living, { run: 'dead', events: many.events })
    shares.push(beside / before)
    rows.push([String(Math.round(before)), String(Math.round(beside)), (beside / before).toFixed(2)])
  })
}

async function measureBesideSlow(): Promise<{ alike: number[]; besideSlow: number[] }> {
  return withSide(few.receivers, async (receiver, side) => {
    const [slow = 0, ...receivers] = receiver.urls.keys()
    const measure = async (run: string, events: number) =>
      (await measureLatencies(receiver, side, { run, events, everyMs: few.everyMs, receivers })).map(
        ({ ms }) => ms,
      )
    await measure('warm', 100)
    const alike = await measure('well', few.events)
    await receiver.call('behave', { receivers: [slow], behaviour: { delayMs: few.slowMs } })
    return { alike, besideSlow: await measure('slow', few.events) }
  })
}

async function withSide<T>(
  receivers: number,
  run: (receiver: Receiver, side: Side) => Promise<T>,
): Promise<T> {
  const receiver = await startReceiver(receivers)
  try {
    const side = await startSide(name, receiver.urls)
    return await run(receiver, side).finally(side.close)
  } finally {
    await receiver.close()
  }
}

/** Deliveries a second at some of the receivers, from the first publish until the last of these. */
async function measureRateOf(
  receiver: Receiver,
  side: Side,
  receivers: number[],
  given: { run: string; events: number },
): Promise<number> {
  const count = given.events * receivers.length
  await receiver.call('reset', undefined)
  const startedMs = nowMs()
  const [{ lastMs }] = await Promise.all([
    receiver.call('expect', { count, receivers }),
    side.call('publish', given),
  ])
  return (count / (lastMs - startedMs)) * 1000
}
