// `make soak`: honest and hostile installations side by side, for ten minutes or MINUTES.
import { createTerminal, printTable } from '../../host/cli/terminal.ts'
import { describeMachine, printGoals } from '../bench/report.ts'
import { runSoak } from './run-soak.ts'

const minutes = Number(process.env.MINUTES || 10)
const seed = Number(process.env.SEED || Date.now() % 1_000_000)
const terminal = createTerminal(process)
terminal.say(`${describeMachine().text}; ${minutes} minutes`)
const result = await runSoak({ seconds: minutes * 60, seed, note: (text) => terminal.say(text) })

const phaseRows = result.phases.map(({ name, requests, died, failed, p50Ms, p99Ms }) => [
  name,
  ...[requests, died, failed].map(String),
  p50Ms.toFixed(1),
  p99Ms.toFixed(1),
])
printTable(
  terminal,
  ['honest requests', 'sent', '502, process died', 'failed', 'p50 ms', 'p99 ms'],
  phaseRows,
)
const { events, memory } = result
const mb = (value: number) => `${Math.round(value)} MB`
printTable(
  terminal,
  ['', ''],
  [
    ['attacks', String(result.attacks)],
    ['sandbox processes ended', String(result.processesEnded)],
    ['events published', String(events.published)],
    ['of these delivered', String(events.delivered)],
    ['host’s memory at start', mb(memory.hostStartMb)],
    ['host’s memory at end', mb(memory.hostEndMb)],
    ['host’s memory, peak', mb(memory.hostPeakMb)],
    ['sandbox processes’ memory, peak', mb(memory.sandboxesPeakMb)],
  ],
)
const descending = [...result.outcomes].toSorted(([, a], [, b]) => b - a)
printTable(
  terminal,
  ['how attacks ended', ''],
  descending.map(([outcome, count]) => [outcome, String(count)]),
)
for (const [why, count] of result.failures) terminal.print(`${count} x ${why}`)
const [calm, ...storms] = result.phases
printGoals(terminal, [
  ...storms.map(({ name, failed }) => ({ name: `failed, ${name}`, value: failed, atMost: 0 })),
  ...storms.map(({ name, p99Ms }) => ({ name: `p99, ${name}`, value: p99Ms, unit: 'ms', atMost: 250 })),
  { name: 'p99, calm', value: calm?.p99Ms ?? Number.NaN, unit: 'ms', atMost: 250 },
  { name: 'events that were lost', value: events.published - events.delivered, atMost: 0 },
])
