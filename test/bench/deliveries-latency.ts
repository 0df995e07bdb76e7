// From the publish of one event on an idle host until the receiver has its first byte.
import { createTerminal } from '../../host/cli/terminal.ts'
import { messageOf } from '../../host/errors.ts'
import { measureLatencies } from './deliveries/measure-latencies.ts'
import { startReceiver } from './deliveries/start-receiver.ts'
import { type Side, type SideName, startSide } from './deliveries/start-sides.ts'
import { quantile } from './measure/quantile.ts'
import { readOptions } from './measure/read-options.ts'
import { measureSyncs } from './measure/sync-times.ts'
import { describeMachine, type Goal, printGoals, printTimes } from './report.ts'

/** What is wanted of each in the middle, in ms. */
const sides: [name: SideName, atMost: number][] = [
  ['Annex, SQLite, in process', 6],
  ['Annex, SQLite, POST /v1/events', 12],
  ['Annex, PostgreSQL, in process', 10],
]
const values = readOptions({ quick: { type: 'boolean', default: false } })
const events = values.quick ? 100 : 500
const everyMs = 50

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const receiver = await startReceiver(1)
ends.defer(receiver.close)
terminal.say(describeMachine().text)
terminal.say(`${events} events to one receiver, one every ${everyMs} ms`)
const measured: [name: string, times: number[]][] = []
const goals: Goal[] = []
for (const [name, atMost] of sides) {
  try {
    const side = await startSide(name, receiver.urls)
    await measure(side, atMost).finally(side.close)
  } catch (error) {
    terminal.say(`${name} is left out: ${messageOf(error)}`)
  }
}
measured.push(['one sync of this disk', await measureSyncs({ count: events, everyMs })])
printTimes(terminal, '', measured)
printGoals(terminal, goals)

async function measure(side: Side, atMost: number): Promise<void> {
  await measureLatencies(receiver, side, { run: 'warm', events: 50, everyMs: 10 })
  const times = (await measureLatencies(receiver, side, { run: 'idle', events, everyMs })).map(({ ms }) => ms)
  measured.push([side.name, times])
  goals.push({ name: `${side.name}, p50`, value: quantile(times, 0.5), unit: 'ms', atMost })
  goals.push({ name: `${side.name}, p99`, value: quantile(times, 0.99), unit: 'ms', atMost: 50 })
}
