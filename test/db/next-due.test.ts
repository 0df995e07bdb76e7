import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openDatabase } from '../../host/db/open-database.ts'
import { nextDueAt } from '../../host/db/queries/claims.ts'
import type { JobKind } from '../../host/db/queries/jobs.ts'

it('finds when the next job comes due in an index of just these, however much is owed (SQLite)', async (t) => {
  const { db, close } = await openDatabase('sqlite::memory:', '')
  t.after(close)
  const asked: { sql: string; bindings: unknown[] }[] = []
  db.on('query', (query) => asked.push(query))
  const plans: Record<string, string> = {}
  for (const kind of ['delivery', 'event', 'task'] satisfies JobKind[]) {
    await nextDueAt(db, kind, 5)
    const { sql = '', bindings = [] } = asked.at(-1) ?? {}
    const steps = await db.raw(`explain query plan ${sql}`, bindings as never)
    plans[kind] = steps.map(({ detail }: { detail: string }) => detail).join()
  }
  assert.deepEqual(plans, {
    delivery: 'SEARCH jobs USING INDEX jobs_later (kind=? AND due_at>?)',
    event: 'SEARCH jobs USING COVERING INDEX jobs_due (kind=? AND due_at>?)',
    task: 'SEARCH jobs USING COVERING INDEX jobs_due (kind=? AND due_at>?)',
  })
})
