// What a backlog costs: the rate of new deliveries beside many that wait, and the rate at which many due ones go.
import { createTerminal, printTable } from '../../host/cli/terminal.ts'
import { seedOwed, setDue } from './deliveries/annex/seed-owed.ts'
import { nowMs } from './deliveries/child-calls.ts'
import { type Receiver, startReceiver } from './deliveries/start-receiver.ts'
import { type Side, type SideName, startSide } from './deliveries/start-sides.ts'
import { watchMemory } from './deliveries/watch-memory.ts'
import { median } from './measure/quantile.ts'
import { readOptions } from './measure/read-options.ts'
import { describeMachine, printGoals } from './report.ts'

const receivers = 5
const values = readOptions({
  quick: { type: 'boolean', default: false },
  postgres: { type: 'boolean', default: false },
  backlog: { type: 'string' },
  events: { type: 'string' },
})
const name: SideName = values.postgres ? 'Annex, PostgreSQL, in process' : 'Annex, SQLite, in process'
const small = 1_000
const large = Number(values.backlog ?? (values.quick ? 50_000 : 1_000_000))
const events = Number(values.events ?? (values.quick ? 400 : 4_000))
/** 1,000 due ones would be gone before a rate can be told. */
const drained = events * receivers
const rounds = values.quick ? 2 : 3
const hourMs = 3_600_000

type Measured = { perSecond: number; peakMb: number }

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
terminal.say(describeMachine().text)
const few = await startWithOwed(small)
const some = await startWithOwed(drained)
const many = await startWithOwed(large)

const waiting = { few: [] as Measured[], many: [] as Measured[] }
for (let round = 0; round < rounds; round++) {
  waiting.few.push(await measureNew(few, round))
  waiting.many.push(await measureNew(many, round))
}
const due = { few: await drainDue(some), many: await drainDue(many) }

terminal.say(`${name}: ${events} events to ${receivers} receivers, ${rounds} rounds in turn, medians`)
const rows = [
  toRow(`new ones, while ${small} are due later`, waiting.few),
  toRow(`new ones, while ${large} are due later`, waiting.many),
  toRow(`the first ${drained} of ${drained} due ones`, [due.few]),
  toRow(`the first ${drained} of ${large} due ones`, [due.many]),
]
printTable(terminal, ['', 'deliveries/s', 'memory of the host, peak'], rows)
printGoals(terminal, [
  {
    name: `rate of new ones, ${large} later / ${small}`,
    value: rateOf(waiting.many) / rateOf(waiting.few),
    atLeast: 0.9,
  },
  {
    name: `rate of due ones, ${large} / ${drained}`,
    value: due.many.perSecond / due.few.perSecond,
    atLeast: 0.9,
  },
  {
    name: 'memory, many / few',
    value: peakOf([...waiting.many, due.many]) / peakOf([...waiting.few, due.few]),
    atMost: 1.25,
  },
])

type Held = { receiver: Receiver; side: Side }

/** An Annex with this many pending deliveries, due in an hour: each has failed once. */
async function startWithOwed(count: number): Promise<Held> {
  const receiver = await startReceiver(receivers)
  ends.defer(receiver.close)
  const all = [...receiver.urls.keys()]
  await receiver.call('behave', { receivers: all, behaviour: { status: 503 } })
  const first = await startSide(name, receiver.urls)
  ends.defer(first.close)
  await Promise.all([
    receiver.call('expect', { count: receivers }),
    first.call('publish', { run: 'seed', events: 1 }),
  ])
  // What runs is stored before it ends.
  await first.stop()
  await seedOwed(first.data, { count, dueAtMs: Date.now() + hourMs })
  await receiver.call('behave', { receivers: all, behaviour: {} })
  const side = await first.startAgain()
  await arrive({ receiver, side }, 'warm', Math.ceil(events / 4))
  return { receiver, side }
}

async function measureNew(held: Held, round: number): Promise<Measured> {
  const memory = watchMemory(held.side.pid)
  const startedMs = nowMs()
  const { lastMs } = await arrive(held, `r${round}`, events)
  return { perSecond: ((events * receivers) / (lastMs - startedMs)) * 1000, peakMb: memory.stop() }
}

async function arrive({ receiver, side }: Held, run: string, published: number) {
  await receiver.call('reset', undefined)
  const [arrived] = await Promise.all([
    receiver.call('expect', { count: published * receivers }),
    side.call('publish', { run, events: published }),
  ])
  return arrived
}

/** Makes all due, and starts again. The rate is that of the first ones, from the first arrival on. */
async function drainDue({ receiver, side }: Held): Promise<Measured> {
  await side.stop()
  await setDue(side.data, 0)
  await receiver.call('reset', undefined)
  const arrived = receiver.call('expect', { count: drained })
  const [{ firstMs, lastMs }, peakMb] = await Promise.all([
    arrived,
    side.startAgain().then(async (again) => {
      const memory = watchMemory(again.pid)
      await arrived
      return memory.stop()
    }),
  ])
  return { perSecond: (drained / (lastMs - firstMs)) * 1000, peakMb }
}

function toRow(text: string, measured: Measured[]): string[] {
  return [text, String(Math.round(rateOf(measured))), `${Math.round(peakOf(measured))} MB`]
}

function rateOf(measured: Measured[]): number {
  return median(measured.map(({ perSecond }) => perSecond))
}

function peakOf(measured: Measured[]): number {
  return Math.max(...measured.map(({ peakMb }) => peakMb))
}
