// From the publish of one event on an idle host until the receiver has its first byte.
import { parseArgs } from 'node:util'
import { printTable } from '../../host/cli/terminal/table.ts'
import { createTerminal } from '../../host/cli/terminal/terminal.ts'
import { messageOf } from '../../host/errors/annex-error.ts'
import { measureLatencies } from './deliveries/measure-latencies.ts'
import { startReceiver } from './deliveries/start-receiver.ts'
import { type Side, type SideName, startSide } from './deliveries/start-sides.ts'
import { quantile } from './measure/quantile.ts'
import { measureSyncs } from './measure/sync-times.ts'
import { describeMachine, printTargets, type Target } from './report.ts'

const names: SideName[] = [
  'Annex, SQLite, in process',
  'Annex, SQLite, POST /v1/events',
  'Annex, PostgreSQL, in process',
]
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const events = values.quick ? 100 : 500
const everyMs = 50

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const receiver = await startReceiver(1)
ends.defer(receiver.close)
terminal.say(describeMachine().text)
terminal.say(`${events} events to one endpoint, one every ${everyMs} ms`)
const rows: string[][] = []
const targets: Target[] = []
for (const name of names) {
  try {
    const side = await startSide(name, receiver.urls)
    await measure(side).finally(side.close)
  } catch (error) {
    terminal.say(`${name} is left out: ${messageOf(error)}`)
  }
}
addRow('one sync of this disk', await measureSyncs({ count: events, everyMs }))
printTable(terminal, ['', 'p50 ms', 'p99 ms', 'slowest ms'], rows)
printTargets(terminal, targets)

async function measure(side: Side): Promise<void> {
  await measureLatencies(receiver, side, { run: 'warm', events: 50, everyMs: 10 })
  const times = (await measureLatencies(receiver, side, { run: 'idle', events, everyMs })).map(({ ms }) => ms)
  const { p50, p99 } = addRow(side.name, times)
  targets.push({ name: `${side.name}, p50`, value: p50, unit: 'ms', atMost: 10 })
  targets.push({ name: `${side.name}, p99`, value: p99, unit: 'ms', atMost: 50 })
}

function addRow(name: string, times: number[]): { p50: number; p99: number } {
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)]
  rows.push([name, ...[p50, p99, Math.max(...times)].map((ms) => ms.toFixed(1))])
  return { p50, p99 }
}
