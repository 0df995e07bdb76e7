// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { insertAccount } from '../../../host/db/queries/accounts.ts'
import { putLink } from '../../../host/db/queries/one-time-links.ts'
import { useChallenge } from '../../../host/db/queries/passkeys.ts'
import { insertSession, listSessions, pruneSignIns, touchSession } from '../../../host/db/queries/sessions.ts'
import { openSeeded, type Seeded } from '../../support/seeded-database.ts'

let seeded: Seeded
before(async () => {
  seeded = await openSeeded()
})
after(() => seeded.close())

it('sessions that have ended are pruned, with links and challenges that no longer work', async () => {
  const { db } = seeded
  const now = Date.now()
  const person = { name: '', password: null, isOperator: true }
  const [one, other] = [
    await insertAccount(db, { ...person, email: 'a@example.com' }),
    await insertAccount(db, { ...person, email: 'b@example.com' }),
  ]
  const add = (hash: string, expiresAt: number, lastUsedAt: number) =>
    insertSession(db, {
      ...{ hash, accountId: one.id, method: 'password', createdAt: 0, confirmedAt: 0 },
      ...{ expiresAt, lastUsedAt, address: null, userAgent: '' },
    })
  const kept = await add('kept', now + 1_000, now)
  await add('over', now, now)
  await add('unused', now + 1_000, now - 500)
  await putLink(db, { hash: 'l1', memberId: null, accountId: one.id, expiresAt: now })
  await putLink(db, { hash: 'l2', memberId: null, accountId: other.id, expiresAt: now + 1 })
  assert.deepEqual([await useChallenge(db, 'c1', now), await useChallenge(db, 'c2', now + 1)], [true, true])
  assert.equal(await useChallenge(db, 'c1', now), false)

  const listed = await listSessions(db, { accountId: one.id, usedAfter: now - 500, limit: 10 })
  assert.deepEqual(
    listed.map(({ hash }) => hash),
    ['kept'],
  )
  await pruneSignIns(db, { now, usedBefore: now - 500 })
  assert.deepEqual(await db('sessions').pluck('hash'), ['kept'])
  assert.deepEqual(await db('oneTimeLinks').pluck('hash'), ['l2'])
  assert.deepEqual(await db('usedChallenges').pluck('hash'), ['c2'])

  await touchSession(db, { id: kept.id, at: now + 50, unlessAfter: now - 1 })
  assert.equal((await db('sessions').first()).lastUsedAt, now, 'a use was noted less than a minute before')
  await touchSession(db, { id: kept.id, at: now + 50, unlessAfter: now })
  assert.equal((await db('sessions').first()).lastUsedAt, now + 50)
})
