import sqlite3 from 'sqlite3'
import type { Db } from '../../host/db/db.ts'

export type Asked = { sql: string; bindings: readonly unknown[] }

/** The last query that `ask` makes. */
export async function lastOf(db: Db, ask: () => Promise<unknown>): Promise<Asked> {
  const asked: Asked[] = []
  const take = (query: Asked) => asked.push(query)
  db.on('query', take)
  await ask()
  db.off('query', take)
  return asked.at(-1) ?? { sql: '', bindings: [] }
}

/** The reads that SQLite makes each of two times that `ask` runs: workers read meanwhile, too. */
export async function readsOf(ask: () => Promise<unknown>): Promise<Asked[]> {
  const first = await readsDuring(ask)
  const second = await readsDuring(ask)
  const again = new Set(second.map(({ sql }) => sql))
  return first.filter(({ sql }) => again.has(sql))
}

async function readsDuring(ask: () => Promise<unknown>): Promise<Asked[]> {
  const asked: Asked[] = []
  const { prototype } = sqlite3.Database
  const { all } = prototype
  prototype.all = function (this: sqlite3.Database, sql: string, bindings: unknown[], ...rest: unknown[]) {
    asked.push({ sql, bindings })
    return all.call(this, sql, bindings, ...(rest as []))
  } as typeof all
  try {
    await ask()
  } finally {
    prototype.all = all
  }
  return asked
}

/** Without the columns of their accounts, which a list of installations reads by key. */
const withoutJoin = (sql: string): string =>
  sql.replace(
    /`levels`\.`installation_id` = `installations`\.`id` and `levels`\.`kind` = \? and `installations`\./,
    '',
  )

/**
 * The steps of these reads that go through a whole table, or sort, each with its statement. A page without a filter may
 * begin at the first row, and a partial index has few rows.
 */
export async function scansOf(file: string, reads: readonly Asked[]): Promise<string[]> {
  const db = new sqlite3.Database(file, sqlite3.OPEN_READONLY)
  const all = (sql: string, bindings: readonly unknown[] = []): Promise<Record<string, string>[]> =>
    new Promise((resolve, reject) => {
      db.all(sql, bindings, (error, rows) =>
        error ? reject(error) : resolve(rows as Record<string, string>[]),
      )
    })
  try {
    const schema = await all('select name, sql from sqlite_master')
    const tables = new Set(schema.map(({ name }) => name))
    const partial = new Set(schema.filter(({ sql }) => / where /.test(sql ?? '')).map(({ name }) => name))
    const found: string[] = []
    for (const { sql, bindings } of reads) {
      if (!/^\s*(select|with)\b/i.test(sql)) continue
      const isWholeList =
        / limit /.test(sql) && !/ where (?!`removing_at` is null order)/.test(withoutJoin(sql))
      for (const { detail = '' } of await all(`explain query plan ${sql}`, bindings)) {
        const [, table = '', index = ''] =
          /^SCAN (\S+)(?: USING (?:COVERING )?INDEX (\S+))?/.exec(detail) ?? []
        const isScan = tables.has(table) && !isWholeList && !partial.has(index)
        if (isScan || /TEMP B-TREE FOR ORDER BY/.test(detail)) found.push(`${detail} in ${sql}`)
      }
    }
    return found
  } finally {
    db.close()
  }
}

/** How SQLite would run the last query that `ask` makes: its steps, separated by commas. */
export async function planOf(db: Db, ask: () => Promise<unknown>): Promise<string> {
  const { sql, bindings } = await lastOf(db, ask)
  const steps: { detail: string }[] = await db.raw(`explain query plan ${sql}`, bindings as never)
  return steps.map(({ detail }) => detail).join()
}

/** Runs the last query that `ask` makes once more on PostgreSQL. @returns its plan, and how many rows each step of it has read */
export async function readRowsOf(
  db: Db,
  ask: () => Promise<unknown>,
): Promise<{ plan: string; read: number[] }> {
  const { sql, bindings } = await lastOf(db, ask)
  const explain = `explain (analyze, timing off) ${sql.replace(/\$\d+/g, '?')}`
  const { rows } = await db.raw(explain, bindings as never)
  const plan: string = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n')
  const counts = [...plan.matchAll(/actual rows=(\d+)|Rows Removed by Filter: (\d+)/g)]
  return { plan, read: counts.map(([, some = 0, others = 0]) => Number(some) + Number(others)) }
}
