// From a request for an installation that is not loaded to its answer, and where that time goes.
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createTerminal, printTable } from '../../host/cli/terminal.ts'
import { ask } from './measure/ask.ts'
import { median, quantile } from './measure/quantile.ts'
import { describeMachine, printGoals } from './report.ts'
import { seedAnnex } from './servers/seeded-annex.ts'
import { startAnnex } from './servers/start-annex.ts'

/** How long the host uses a reading of an installation again, and a bit: see prepare-dispatch.ts. */
const readingIsOldMs = 1_200
const stillLoaded = 30

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const { folders, paths } = await seedAnnex({ integrations: 20, organizations: 12 })
ends.defer(() => folders.remove())
const annex = await startAnnex(folders)
ends.defer(annex.close)
const [first, ...others] = paths.map((path) => annex.origin + path)
// The process is there, the code that all dispatches run is compiled.
for (let i = 0; i < 300; i++) await ask(String(first))

const cold = await askEach(others)
await sleep(readingIsOldMs)
// The last ones: those before may have made room for them.
const notRead = await askEach(others.slice(-stillLoaded))
const warm = await askEach(others.slice(-stillLoaded))
const isolate = await measureIsolates()

terminal.say(describeMachine().text)
terminal.say(`${others.length} installations of 20 integrations, one request after the other`)
const row = (name: string, times: number[]) => [
  name,
  quantile(times, 0.5).toFixed(2),
  quantile(times, 0.99).toFixed(2),
]
printTable(
  terminal,
  ['', 'p50 ms', 'p99 ms'],
  [
    row('not loaded', cold),
    row('loaded, its records not read for a second', notRead),
    row('loaded and read', warm),
  ],
)
printTable(
  terminal,
  ['of a cold request', 'ms, medians'],
  [
    ['isolate and context from the snapshot', isolate.toFixed(2)],
    ['bundle sent and evaluated, boot', (median(cold) - median(notRead) - isolate).toFixed(2)],
    ['records read, environment built', (median(notRead) - median(warm)).toFixed(2)],
    ['a request as any other', median(warm).toFixed(2)],
  ],
)
printGoals(terminal, [
  { name: 'cold, p50', value: quantile(cold, 0.5), unit: 'ms', atMost: 10 },
  { name: 'cold, p99', value: quantile(cold, 0.99), unit: 'ms', atMost: 30 },
])

async function askEach(urls: string[]): Promise<number[]> {
  const times: number[] = []
  for (const url of urls) times.push(await ask(url))
  return times
}

/** In a process of its own: isolated-vm needs Node without its own snapshot. */
async function measureIsolates(): Promise<number> {
  const script = fileURLToPath(new URL('measure/isolates.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-node-snapshot', script])
  return Number(stdout)
}
