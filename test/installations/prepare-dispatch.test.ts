import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ScriptTokens } from '../../host/access/script-tokens.ts'
import type { SecretBox } from '../../host/access/secret-box.ts'
import { createPrepareDispatch, type PrepareDispatch } from '../../host/installations/prepare-dispatch.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

/** A refused request needs neither. */
const neither = {} as SecretBox & ScriptTokens

describe('a level that is read for visitors', () => {
  let seeded: Seeded
  let prepared: PrepareDispatch
  let queries = 0

  before(async () => {
    seeded = await openSeeded()
    seeded.db.on('query', () => queries++)
    prepared = createPrepareDispatch({
      ...{ db: seeded.db, box: neither, tokens: neither, settingsTag: () => '', learn() {} },
      publicUrl: () => 'http://127.0.0.1',
      reading: { operatorOrganization: 'home', operatorOrganizationId: 'org_1', environment: {} },
    })
  })

  after(() => seeded?.close())

  const visit = () =>
    prepared.prepare({ kind: 'integration', integration: 'echo' }).then(
      () => 'runs',
      ({ code }) => code,
    )

  it('is read at most once for a flood of refused requests', async () => {
    for (let visits = 0; visits < 50; visits++) assert.equal(await visit(), 'no_version')
    assert.ok(queries > 0 && queries <= 3, `${queries} queries`)
  })

  it('is read again after a change of a record', async () => {
    const before = queries
    prepared.forget()
    assert.equal(await visit(), 'no_version')
    assert.ok(queries > before)
  })

  it('is read again after a failure of the database', async () => {
    const away = Object.assign(new Error('gone'), { code: 'SQLITE_BUSY' })
    const failing = createPrepareDispatch({
      ...{ box: neither, tokens: neither, settingsTag: () => '', learn() {} },
      db: (() => {
        queries++
        throw away
      }) as unknown as Seeded['db'],
      publicUrl: () => 'http://127.0.0.1',
      reading: { operatorOrganization: 'home', operatorOrganizationId: 'org_1', environment: {} },
    })
    const before = queries
    const level = { kind: 'integration', integration: 'echo' } as const
    for (const _ of [1, 2]) await assert.rejects(failing.prepare(level), away)
    assert.equal(queries - before, 2)
  })
})
