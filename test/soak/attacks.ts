// Runs each attack alone, and shows its effect on honest installations: `node test/soak/attacks.ts [NAME …]`.
import { setTimeout as sleep } from 'node:timers/promises'
import { createTerminal, printTable } from '../../host/cli/terminal.ts'
import { startHonestLoad } from './honest-load.ts'
import { outcomeOf } from './hostile-load.ts'
import { attacks } from './plugins.ts'
import { startSoakedAnnex } from './soaked-annex.ts'

/** What an attack may have left behind shows in as long. */
const afterMs = 500

const terminal = createTerminal(process)
const wanted = process.argv.slice(2)
const names = Object.keys(attacks).filter((name) => wanted.length === 0 || wanted.includes(name))
await using ends = new AsyncDisposableStack()
const { annex, endpoints } = await startSoakedAnnex(ends)
const honest = startHonestLoad(endpoints.filter(({ name }) => name === 'courier' || name === 'porter'))
ends.defer(honest.stop)
await sleep(2000)
const rows: string[][] = []
for (const name of names) {
  const startedAt = performance.now()
  // The hostile integrations take turns, as one that ended its process is treated differently the next time.
  const thug = ['thug', 'vandal', 'crook', 'forger'][rows.length % 4]
  const outcome = await outcomeOf(`${annex.origin}/x/${thug}/${name}`, new AbortController().signal)
  const seconds = (performance.now() - startedAt) / 1000
  await sleep(afterMs)
  await honest.underWay()
  const answers = honest.answers.filter(({ atMs }) => atMs >= startedAt)
  const count = (kind: string) => String(answers.filter((answer) => answer.kind === kind).length)
  const slowest = Math.max(0, ...answers.map(({ ms }) => ms))
  rows.push([
    name,
    outcome,
    seconds.toFixed(1),
    Math.round(slowest).toString(),
    count('died'),
    count('failed'),
  ])
}
const heads = ['attack', 'ended with', 'after s', 'slowest honest ms', '502, process died', 'failed']
printTable(terminal, heads, rows)
