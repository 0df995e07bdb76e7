import type { Db } from '../../../../host/db/db.ts'
import { type Database, openDatabase } from '../../../../host/db/open-database.ts'
import type { Side } from '../start-sides.ts'

const rowsAtOnce = 20_000

/**
 * Makes many pending deliveries, as copies of existing ones: the host itself has written these rows, so the copies have
 * its form. No process may use the data at the same time.
 *
 * @param given.count how many there are in the end
 * @param given.dueAtMs when all of them are due
 */
export async function seedOwed(data: Side['data'], given: { count: number; dueAtMs: number }): Promise<void> {
  await withDatabase(data, async ({ db, dialect }) => {
    const owed: { id: string }[] = await db('deliveries').select('id').where({ state: 'pending' })
    const copies = Math.round(given.count / owed.length) - 1
    const numbers =
      dialect === 'postgres'
        ? 'select generate_series(cast(:from as int), cast(:to as int)) n'
        : 'with recursive s(n) as (select :from union all select n + 1 from s where n < :to) select n from s'
    const statements = [
      await toCopy(db, 'deliveries', numbers, 't.id = :id'),
      await toCopy(
        db,
        'jobs',
        numbers,
        `t.id = (select id from jobs where subject like '%' || :id || '%' order by length(id) limit 1)`,
      ),
    ]
    for (const { id } of owed) {
      for (let from = 1; from <= copies; from += rowsAtOnce) {
        const bound = { id, from, to: Math.min(copies, from + rowsAtOnce - 1) }
        await db.transaction(async (transaction) => {
          for (const statement of statements) await transaction.raw(statement, bound)
        })
      }
    }
  })
  await setDue(data, given.dueAtMs)
}

/** Makes all pending deliveries due at a time. */
export async function setDue(data: Side['data'], dueAtMs: number): Promise<void> {
  await withDatabase(data, ({ db }) => db('jobs').where({ kind: 'delivery' }).update({ dueAt: dueAtMs }))
}

/** A row of `table` for each number: its keys are new, and where it names the delivery `:id` it names that one's copy. */
async function toCopy(db: Db, table: string, numbers: string, where: string): Promise<string> {
  const info: Record<string, { type: string }> = await db(table).columnInfo()
  const columns = Object.entries(info).map(([name, { type }]) => {
    const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    if (column === 'id' || column === 'event_id') return { column, value: `t.${column} || '_' || n` }
    const renamed = `replace(t.${column}, cast(:id as text), cast(:id as text) || '_' || n)`
    return { column, value: type === 'text' ? renamed : `t.${column}` }
  })
  return `insert into ${table} (${columns.map(({ column }) => column).join(', ')})
    select ${columns.map(({ value }) => value).join(', ')} from ${table} t, (${numbers}) numbers where ${where}`
}

async function withDatabase<T>(
  { databaseUrl, dataDir }: Side['data'],
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(databaseUrl, dataDir)
  try {
    return await use(database)
  } finally {
    await database.close()
  }
}
