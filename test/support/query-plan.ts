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
