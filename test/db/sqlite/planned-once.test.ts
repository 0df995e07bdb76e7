import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { Db } from '../../../host/db/db.ts'
import { openDatabase } from '../../../host/db/open-database.ts'
import { endOfRound, nextDueAt, readDueJobs } from '../../../host/db/queries/claims.ts'
import { insertJobs } from '../../../host/db/queries/jobs.ts'

/** What SQLite is asked meanwhile. */
async function askedBy(
  db: Db,
  ask: () => PromiseLike<unknown>,
): Promise<{ sql: string; bindings: unknown[] }[]> {
  const asked: { sql: string; bindings: unknown[] }[] = []
  const note = (query: { sql: string; bindings: unknown[] }) => asked.push(query)
  db.on('query', note)
  await ask()
  db.off('query', note)
  return asked
}

async function open(t: TestContext): Promise<Db> {
  const { db, close } = await openDatabase('sqlite::memory:', '')
  t.after(close)
  return db
}

// SQLite makes a plan for the limit that it is given, and another one whenever it is given one.
it('a limit is written into what SQLite is asked', async (t) => {
  const db = await open(t)
  const first = await askedBy(db, () => db('jobs').where({ id: 'job_1' }).first('id'))
  assert.deepEqual(first, [{ ...first[0], bindings: ['job_1'] }])
  assert.match(first[0]?.sql ?? '', /where `id` = \? limit 1$/)
  const few = db('jobs').select('id').where({ lane: 'one' }).limit(3)
  const [nested] = await askedBy(db, () => db('jobs').whereIn('id', few).limit(2).offset(5))
  assert.match(nested?.sql ?? '', /`lane` = \? limit 3\) limit 2 offset \?$/)
  assert.deepEqual(nested?.bindings, ['one', 5])
  const [all] = await askedBy(db, () => db('jobs').select('id').offset(5))
  assert.match(all?.sql ?? '', /limit -1 offset \?$/)
  const jobs = ['a', 'b', 'c'].map((id) => ({
    id,
    kind: 'task' as const,
    subject: {},
    lane: 'one',
    dueAt: 1,
  }))
  await insertJobs(db, jobs)
  assert.deepEqual(await db('jobs').orderBy('id').limit(1).offset(1).pluck('id'), ['b'])
})

// The same of a value that an index is only for: every index of `jobs` is for some of its states and kinds.
it('the kind of due jobs is written into what SQLite is asked', async (t) => {
  const db = await open(t)
  const given = { without: [], perLane: 4, limit: 6, nowMs: 4 }
  for (const kind of ['delivery', 'task'] as const) {
    const asked = await askedBy(db, async () => {
      for (const after of ['', 'lane']) await readDueJobs(db, kind, { after, ...given })
      await endOfRound(db, kind, '')
      await nextDueAt(db, kind, 4)
    })
    assert.equal(asked.length, 4)
    for (const { sql } of asked) assert.doesNotMatch(sql, /(kind`?|limit) (= )?\?/)
  }
})
