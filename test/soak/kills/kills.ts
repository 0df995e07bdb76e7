// `make kills`: the host is killed again and again, ROUNDS times, and nothing may be lost. SEED makes a run again.
// With HOSTS, on PostgreSQL, others share its database, and go on.
import { createTerminal } from '../../../host/cli/terminal.ts'
import { printLedger, wrongsOf } from './print-ledger.ts'
import { runKills } from './run-kills.ts'

const rounds = Number(process.env.ROUNDS || 200)
const seed = Number(process.env.SEED || Date.now() % 1_000_000)
const hosts = Number(process.env.HOSTS || 1)
const terminal = createTerminal(process)
const database = process.env.DATABASE_URL_TEST ? 'PostgreSQL' : 'SQLite'
if (hosts > 1 && database === 'SQLite')
  throw new Error('HOSTS needs a PostgreSQL: DATABASE_URL_TEST names none.')
terminal.say(`${rounds} rounds with ${hosts} hosts on ${database}; SEED=${seed} makes this run again`)
const ledger = await runKills({ rounds, seed, hosts, note: (text) => terminal.say(text) })
printLedger(terminal, ledger)
const wrongs = wrongsOf(ledger)
for (const wrong of wrongs) terminal.say(`WRONG: ${wrong}`)
process.exitCode = wrongs.length > 0 ? 1 : 0
