// A thousand installations of twenty integrations: everything answers, within 3 GB in all.
import { createTerminal, printTable } from '../../host/cli/terminal.ts'
import { messageOf } from '../../host/errors.ts'
import { ask } from './measure/ask.ts'
import { sumUsed } from './measure/cpu-time.ts'
import { quantile } from './measure/quantile.ts'
import { describeMachine, printGoals } from './report.ts'
import { seedAnnex, shuffle } from './servers/seeded-annex.ts'
import { startAnnex } from './servers/start-annex.ts'

const atOnce = 8

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const { folders, paths } = await seedAnnex({ integrations: 20, organizations: 50 })
ends.defer(() => folders.remove())
const annex = await startAnnex(folders)
ends.defer(annex.close)

let peakGb = 0
const readGb = () => sumUsed([annex.pid, ...(annex.behind?.() ?? [])]).residentBytes / 1024 ** 3
const sampling = setInterval(() => {
  peakGb = Math.max(peakGb, readGb())
}, 100)
ends.defer(async () => clearInterval(sampling))

const failures = new Map<string, number>()
const rounds = [paths, shuffle(paths), shuffle(paths)]
const rows: string[][] = []
for (const [index, round] of rounds.entries()) {
  const times = await askAll(round.map((path) => annex.origin + path))
  const numbers = [0.5, 0.99].map((part) => quantile(times, part).toFixed(1))
  rows.push([`round ${index + 1}`, String(times.length), ...numbers, `${readGb().toFixed(2)} GB`])
}

terminal.say(describeMachine().text)
terminal.say(`${paths.length} installations, ${atOnce} requests at once, in a random order each round`)
printTable(terminal, ['', 'answered', 'p50 ms', 'p99 ms', 'memory after'], rows)
for (const [failure, count] of failures) terminal.print(`${count} x ${failure}`)
const failed = [...failures.values()].reduce((sum, count) => sum + count, 0)
printGoals(terminal, [
  { name: 'host and sandbox processes, peak', value: peakGb, unit: 'GB', atMost: 3 },
  { name: 'requests that failed', value: failed, atMost: 0 },
])

async function askAll(urls: string[]): Promise<number[]> {
  const times: number[] = []
  const waiting = urls.values()
  const askNext = async () => {
    for (const url of waiting) {
      try {
        times.push(await ask(url))
      } catch (error) {
        const failure = messageOf(error).replace(/^\S+ |req_[\w-]+|inst_[\w-]+|echo-\d+/g, '')
        failures.set(failure, (failures.get(failure) ?? 0) + 1)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, askNext))
  return times
}
