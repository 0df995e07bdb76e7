// `make power-cut`: whatever was not synced is forgotten, ROUNDS times, and nothing acknowledged may be missing.
import { createTerminal, printTable } from '../../../host/cli/terminal.ts'
import { noCompiler } from '../../support/compile-library.ts'
import { cutBySql } from './cut-by-sql.ts'
import { runPowerCuts } from './run-power-cuts.ts'

const terminal = createTerminal(process)
if (noCompiler) {
  terminal.say(`Skipped: ${noCompiler}.`)
  process.exit()
}
const rounds = Number(process.env.ROUNDS || 50)
const seed = Number(process.env.SEED || Date.now() % 1_000_000)
terminal.say(`${rounds} rounds; SEED=${seed} makes this run again`)
const result = await runPowerCuts({ rounds, seed, note: (text) => terminal.say(text) })
const normal = await cutBySql('NORMAL', 2_000)
const full = await cutBySql('FULL', 2_000)
const rows: [string, string | number][] = [
  ['power cuts', result.cuts],
  ['events acknowledged', result.acknowledged],
  ['of these lost', result.lost.length],
  ['deliveries that did not come', result.undelivered.length],
  ['writes seen', result.writes],
  ['syncs seen', result.syncs],
  ['changes taken back', result.undone],
  ['integrity check of SQLite', result.integrity],
  ['control, synchronous=FULL: acknowledged', full.acknowledged],
  ['of these lost', full.lost],
  ['control, synchronous=NORMAL: acknowledged', normal.acknowledged],
  ['of these lost, as it must be', normal.lost],
]
printTable(
  terminal,
  ['', ''],
  rows.map(([name, value]) => [name, String(value)]),
)
for (const why of result.undelivered) terminal.say(why)
const isWrong =
  result.lost.length + result.undelivered.length + full.lost > 0 ||
  result.integrity !== 'ok' ||
  normal.lost === 0
if (isWrong) terminal.say(`WRONG: SEED=${seed}`)
process.exitCode = isWrong ? 1 : 0
