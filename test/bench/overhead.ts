// What a dispatch costs the host, with 1 installation, with 100 and with 10,000.
import { createTerminal, printTable } from '../../host/cli/terminal.ts'
import { toMedian } from './measure/compare.ts'
import { median } from './measure/quantile.ts'
import { findGenerator, type Measure, runLoad } from './measure/run-load.ts'
import { describeMachine, printGoals } from './report.ts'
import { seedAnnex } from './servers/seeded-annex.ts'
import { startAnnex } from './servers/start-annex.ts'

const sizes = [
  { integrations: 1, organizations: 1 },
  { integrations: 10, organizations: 10 },
  { integrations: 20, organizations: 500 },
]
/** So many take turns in the load; the others are only there. */
const called = 8
const rounds = 7
const load = { connections: 50, seconds: 2, generator: findGenerator() }

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const cases: { name: string; urls: string[]; pid: number; behind?: () => number[]; measures: Measure[] }[] =
  []
for (const size of sizes) {
  const { folders, paths } = await seedAnnex(size)
  ends.defer(() => folders.remove())
  const annex = await startAnnex(folders)
  ends.defer(annex.close)
  const urls = paths.slice(0, called).map((path) => annex.origin + path)
  const { pid, behind } = annex
  const name = `${paths.length} installed`
  cases.push({ name: `${name}, one called`, urls: urls.slice(0, 1), pid, behind, measures: [] })
  if (urls.length > 1) cases.push({ name: `${name}, ${called} in turn`, urls, pid, behind, measures: [] })
}
for (const one of cases) await runLoad(one, { ...load, seconds: 1 })
for (let round = 0; round < rounds; round++) {
  for (const one of cases) one.measures.push(await runLoad(one, load))
}

terminal.say(describeMachine().text)
terminal.say(`${load.connections} connections, ${rounds} rounds of ${load.seconds} s in turn, medians`)
const rows = cases.map(({ name, measures }) => {
  const { requestsPerSecond, hostUs, p99Ms } = toMedian(measures)
  return [name, String(Math.round(requestsPerSecond)), hostUs.toFixed(1), p99Ms.toFixed(1)]
})
printTable(terminal, ['', 'requests/s', 'host’s CPU µs', 'p99 ms'], rows)
// What is called is the same on both sides: scripts that take turns share fewer batches, however many are installed.
const [one, , few, many, manyInTurn] = cases
type Case = (typeof cases)[number]
// Round by round, as what else the machine does falls on both sides of a round alike.
const ratio = (more: Case | undefined, less: Case | undefined) =>
  median((less?.measures ?? []).map(({ hostUs }, round) => (more?.measures[round]?.hostUs ?? 0) / hostUs))
printGoals(terminal, [
  { name: 'host’s CPU time, 10,000 installed / 1, one called', value: ratio(many, one), atMost: 1.15 },
  { name: `the same, 10,000 / 100, ${called} in turn`, value: ratio(manyInTurn, few), atMost: 1.15 },
])
