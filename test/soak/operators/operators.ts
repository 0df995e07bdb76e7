// `make operators`: people at random beside deliveries, for MINUTES. SEED draws the same again; with HOSTS, on PostgreSQL, several.
import { runOperators } from './run-operators.ts'

const minutes = Number(process.env.MINUTES || 1)
const seed = Number(process.env.SEED || Date.now() % 1_000_000)
const hosts = Number(process.env.HOSTS || 2)
const database = process.env.DATABASE_URL_TEST ? `PostgreSQL, ${hosts} hosts` : 'SQLite'
console.log(`${minutes} min on ${database}; SEED=${seed} draws the same again`)
const { operations, published, wrongs } = await runOperators({ seconds: minutes * 60, seed, hosts })
console.log(`${operations} operations beside ${published} deliveries`)
for (const [wrong, count] of wrongs) console.log(`WRONG, ${count} times: ${wrong}`)
process.exitCode = wrongs.size > 0 ? 1 : 0
