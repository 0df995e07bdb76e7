// SIGKILL with many pending deliveries, and a start on the same store: time until all are delivered, and duplicates.
import { setTimeout as sleep } from 'node:timers/promises'
import { createTerminal, printTable } from '../../host/cli/terminal.ts'
import { nowMs } from './deliveries/child-calls.ts'
import { startReceiver } from './deliveries/start-receiver.ts'
import { type SideName, startSide } from './deliveries/start-sides.ts'
import { median } from './measure/quantile.ts'
import { readOptions } from './measure/read-options.ts'
import { describeMachine, printGoals } from './report.ts'

const receivers = 5
const values = readOptions({
  quick: { type: 'boolean', default: false },
  /** Any of those that deliveries.ts compares. */
  side: { type: 'string', default: 'Annex, SQLite, in process' },
  owed: { type: 'string' },
  rounds: { type: 'string' },
})
const owed = Number(values.owed ?? (values.quick ? 1_000 : 10_000))
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3))
/** Nothing fails before the kill: what is under way then is simply cut off. */
const settings = { DELIVERY_TIMEOUT_MS: '120000' }

const terminal = createTerminal(process)
terminal.say(describeMachine().text)
const measured = []
for (let round = 0; round < rounds; round++) measured.push(await crash())
terminal.say(`${values.side}: SIGKILL with ${owed} owed to ${receivers} receivers, ${rounds} times`)
printTable(
  terminal,
  ['start to ready, ms', 'start to all delivered, ms', 'under way at the kill', 'came twice'],
  measured.map((one) =>
    [one.readyMs, one.deliveredMs, one.underWay, one.twice].map((value) => String(Math.round(value))),
  ),
)
printGoals(terminal, [
  {
    name: 'start to all delivered',
    value: median(measured.map(({ deliveredMs }) => deliveredMs)) / 1000,
    unit: 's',
    atMost: 2.5,
  },
  {
    name: 'came twice, beyond what was under way',
    value: Math.max(...measured.map(({ twice, underWay }) => twice - underWay)),
    atMost: 0,
  },
])

async function crash() {
  await using ends = new AsyncDisposableStack()
  const receiver = await startReceiver(receivers)
  ends.defer(receiver.close)
  const all = [...receiver.urls.keys()]
  const side = await startSide(values.side as SideName, receiver.urls, settings)
  ends.defer(side.close)
  await receiver.call('behave', { receivers: all, behaviour: 'never' })
  await Promise.all([
    receiver.call('expect', { count: 1 }),
    side.call('publish', { run: 'pending', events: owed / receivers }),
  ])
  // As many as it sends at once get under way.
  await sleep(500)
  await side.kill()
  const { distinct: underWay } = await receiver.call('counts', undefined)
  await receiver.call('behave', { receivers: all, behaviour: {} })
  const startedMs = nowMs()
  const [, { again, readyMs }] = await Promise.all([
    receiver.call('expect', { count: owed - underWay }),
    side.startAgain().then((again) => ({ again, readyMs: nowMs() })),
  ])
  // Only after all deliveries have come, as a query takes time from the host.
  await again.call('settle', undefined)
  const { lastMs, duplicates: twice } = await receiver.call('counts', undefined)
  return {
    readyMs: readyMs - startedMs,
    deliveredMs: lastMs - startedMs,
    underWay,
    twice,
  }
}
