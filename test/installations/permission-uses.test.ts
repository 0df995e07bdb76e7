// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { endLevel } from '../../host/db/queries/uninstall.ts'
import { transact } from '../../host/db/sql.ts'
import { createPermissionUses, pruneUses, readUses } from '../../host/installations/permission-uses.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const day = 86_400_000
const noon = Date.UTC(2026, 0, 31, 12)
const scope = 'site:metadata:read'

const fail = (error: unknown): never => {
  throw error
}

describe('uses of permissions', () => {
  let seeded: Seeded
  let nowMs: number
  beforeEach(async () => {
    seeded = await openSeeded()
    nowMs = noon
  })
  afterEach(() => seeded.close())

  const count = () => createPermissionUses(seeded.db, fail, () => nowMs)
  const read = async (id = seeded.installationId) =>
    [...(await readUses(seeded.db, id, nowMs))]
      .map(([name, { uses, lastDay }]) => [name, uses, new Date(lastDay).toISOString().slice(0, 10)])
      .sort()

  it('are counted by installation, scope and UTC day', async () => {
    const other = await seeded.addOrganization('other')
    const uses = count()
    nowMs = Date.UTC(2026, 0, 30, 23, 59, 59, 999)
    uses.note(seeded.installationId, scope)
    nowMs += 1
    uses.note(seeded.installationId, scope)
    uses.note(seeded.installationId, 'space:content:read')
    uses.note(other.installationId, scope)
    assert.deepEqual(await read(), [], 'not stored yet')
    await uses.flush()
    const rows = seeded.db('permissionUses').where({ installationId: seeded.installationId, scope })
    assert.deepEqual((await rows.orderBy('day').pluck('day')).map(Number), [
      Date.UTC(2026, 0, 30),
      Date.UTC(2026, 0, 31),
    ])
    assert.deepEqual(await read(), [
      [scope, 2, '2026-01-31'],
      ['space:content:read', 1, '2026-01-31'],
    ])
    assert.deepEqual(await read(other.installationId), [[scope, 1, '2026-01-31']])
    await uses.close()
  })

  it('of several hosts add up, also in other orders at the same time', async () => {
    const other = await seeded.addOrganization('other')
    const hosts = Array.from({ length: 4 }, count)
    for (const [at, host] of hosts.entries()) {
      const ids = [seeded.installationId, other.installationId]
      for (const id of at % 2 === 0 ? ids : ids.toReversed())
        for (let use = 0; use < 10; use += 1) host.note(id, scope)
    }
    await Promise.all(hosts.map((host) => host.close()))
    assert.deepEqual(await read(), [[scope, 40, '2026-01-31']])
    assert.deepEqual(await read(other.installationId), [[scope, 40, '2026-01-31']])
  })

  it('are read and kept for 30 days', async () => {
    const uses = count()
    for (const before of [30, 29, 1]) {
      nowMs = noon - before * day
      uses.note(seeded.installationId, scope)
    }
    nowMs = noon
    await uses.close()
    assert.deepEqual(await read(), [[scope, 2, '2026-01-30']])
    await pruneUses(seeded.db, nowMs)
    assert.equal((await seeded.db('permissionUses')).length, 2)
    nowMs += 29 * day
    assert.deepEqual(await read(), [])
    await pruneUses(seeded.db, nowMs)
    assert.equal((await seeded.db('permissionUses')).length, 0)
  })

  it('of a clock that was set back are not in the future', async () => {
    const uses = count()
    nowMs = noon + 3 * day
    uses.note(seeded.installationId, scope)
    nowMs = noon
    uses.note(seeded.installationId, scope)
    await uses.close()
    assert.deepEqual(await read(), [[scope, 2, '2026-01-31']])
  })

  it('end with their installation, also those that are stored after it', async () => {
    const { db, installationId } = seeded
    const uses = count()
    uses.note(installationId, scope)
    await uses.flush()
    uses.note(installationId, scope)
    uses.note('inst_unknown', scope)
    await transact(db, (transaction) =>
      endLevel(transaction, { installationId, kind: 'account', placeId: '' }),
    )
    await uses.close()
    assert.deepEqual(await db('permissionUses'), [])
  })

  it('of more installations than one statement takes are all stored', async () => {
    const uses = count()
    const scopes = Array.from({ length: 1_201 }, (_, at) => `scope:${at}`)
    for (const one of scopes) uses.note(seeded.installationId, one)
    await uses.close()
    assert.equal((await read()).length, 1_201)
  })
})
