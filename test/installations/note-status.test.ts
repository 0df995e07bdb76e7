// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { systemOrigin } from '../../host/access/actor.ts'
import { createSecretBox } from '../../host/access/secret-box.ts'
import type { Installation } from '../../host/db/queries/installations.ts'
import { findInstallation } from '../../host/db/queries/installations.ts'
import { activateLevel, insertPlaceLevel, readPlaceLevels } from '../../host/db/queries/levels.ts'
import { insertSite } from '../../host/db/queries/places.ts'
import { listStatusChanges } from '../../host/db/queries/status-changes.ts'
import { endLevel } from '../../host/db/queries/uninstall.ts'
import { transact } from '../../host/db/sql.ts'
import { noteFoundStatuses, noteStatus, noteStatusesOf } from '../../host/installations/note-status.ts'
import { createSuspensions } from '../../host/installations/suspend.ts'
import { until } from '../support/annex.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const origin = systemOrigin

describe('a change of status', () => {
  let seeded: Seeded
  let installation: Installation
  beforeEach(async () => {
    seeded = await openSeeded()
    installation = await read()
    await transact(seeded.db, (transaction) =>
      noteStatus(transaction, installation, { why: 'installed', origin }),
    )
  })
  afterEach(() => seeded.close())

  const read = async (): Promise<Installation> => {
    const found = await findInstallation(seeded.db, seeded.installationId)
    assert.ok(found)
    return found
  }
  const list = async (
    level: { kind: 'account' | 'site'; placeId: string } = { kind: 'account', placeId: '' },
  ) => listStatusChanges(seeded.db, { installationId: seeded.installationId, ...level }, { limit: 1_000 })
  const short = (rows: Awaited<ReturnType<typeof list>>) =>
    rows.map(({ number, fromStatus, toStatus, why }) => `${number} ${fromStatus} > ${toStatus}: ${why}`)
  const activate = async () => {
    await activateLevel(seeded.db, installation)
    await noteStatus(seeded.db, installation, { why: 'set_up', origin })
  }
  const suspensions = () =>
    createSuspensions({
      ...{ db: seeded.db, logs: { report: () => {} } as never },
      ...{ forgive: () => {}, onSuspend: () => {}, onDefect: () => assert.fail() },
    })

  it('by Annex itself is kept with its reason, and so is the end of it', async () => {
    await activate()
    const { installationId: key, db } = seeded
    const target = {
      key,
      group: 'operator',
      integration: 'echo',
      version: { digest: 'd', code: '' },
    } as const
    suspensions().suspend(target, 'It ended its process.')
    await until(list, (rows) => rows.length === 3)
    suspensions().suspend(target, 'Again.')
    await suspensions().resume({ installation: key }, origin)
    assert.deepEqual(short(await list()), [
      '4 suspended > active: resumed',
      '3 active > suspended: suspended',
      '2 pending > active: set_up',
      '1 null > pending: installed',
    ])
    assert.equal((await list())[1]?.reason, 'It ended its process.')
    assert.equal((await db('audit').where({ action: 'installation.suspend' })).length, 1)
  })

  it('is kept once, by however many hosts it is seen', async () => {
    await activateLevel(seeded.db, installation)
    const hosts = Array.from({ length: 4 }, () =>
      noteStatusesOf(seeded.db, 'echo', { why: 'version', origin, version: 2 }),
    )
    await Promise.all(hosts)
    assert.deepEqual(short(await list()), ['2 pending > active: version', '1 null > pending: installed'])
  })

  it('of an account is one of its sites and spaces, too', async () => {
    const site = await insertSite(seeded.db, {
      ...{ organizationId: seeded.organizationId, slug: 's', title: 'S' },
    } as never)
    const placeId = site?.id ?? ''
    const level = await insertPlaceLevel(seeded.db, installation, {
      kind: 'site',
      placeId,
      signingSecret: 's',
    })
    assert.ok(level)
    await noteStatus(seeded.db, level, { why: 'installed', origin })
    await activateLevel(seeded.db, level)
    await noteStatus(seeded.db, level, { why: 'set_up', origin })
    assert.equal((await list({ kind: 'site', placeId })).length, 1, 'it waits for the account')
    await activate()
    assert.equal((await readPlaceLevels(seeded.db, installation)).length, 1)
    assert.deepEqual(short(await list({ kind: 'site', placeId })), [
      '2 pending > active: set_up',
      '1 null > pending: installed',
    ])
  })

  it('is one of the newest 100 that are kept', async () => {
    await activate()
    for (let round = 0; round < 60; round += 1) {
      await suspensions().pause(await read(), origin)
      await suspensions().resume({ installation: seeded.installationId }, origin)
    }
    const numbers = (await list()).map(({ number }) => number)
    assert.deepEqual([numbers.length, numbers[0], numbers.at(-1)], [100, 122, 23])
  })

  it('ends with its level', async () => {
    const { db, installationId } = seeded
    await transact(db, (transaction) =>
      endLevel(transaction, { installationId, kind: 'account', placeId: '' }),
    )
    await noteStatus(db, installation, { why: 'settings', origin })
    assert.deepEqual(await db('statusChanges'), [])
  })

  const noteFound = () => noteFoundStatuses(seeded.db, new AbortController().signal)
  const lost = createSecretBox(Buffer.alloc(32, 7)).seal('{"note":"lost"}')
  const setSettings = (configuration: string) => seeded.db('levels').update({ configuration })

  it('by another key is found at a start, once by all hosts, and so is its end', async () => {
    await activate()
    await setSettings(lost)
    await Promise.all([noteFound(), noteFound(), noteFound()])
    await noteFound()
    assert.deepEqual(short(await list()).slice(0, 2), [
      '3 active > pending: secret_key',
      '2 pending > active: set_up',
    ])
    assert.match((await list())[0]?.reason ?? '', /were encrypted with another SECRET_KEY/)
    await setSettings('{}')
    await Promise.all([noteFound(), noteFound()])
    await noteFound()
    assert.deepEqual(short(await list()).slice(0, 2), [
      '4 pending > active: secret_key',
      '3 active > pending: secret_key',
    ])
  })

  it('that was noted is not found again: paused, suspended, pending, with a long reason', async () => {
    await noteFound()
    await seeded.db('levels').update({ statusReason: 'x'.repeat(5_000) })
    await noteStatus(seeded.db, installation, { why: 'setup_failed', origin })
    await noteStatus(seeded.db, installation, { why: 'setup_failed', origin })
    await noteFound()
    await activate()
    await suspensions().pause(await read(), origin)
    await noteFound()
    assert.deepEqual(short(await list()), [
      '4 active > paused: paused',
      '3 pending > active: set_up',
      '2 pending > pending: setup_failed',
      '1 null > pending: installed',
    ])
  })

  it('of hundreds of installations takes some statements for each hundred', async () => {
    const { db } = seeded
    const organizations = await Promise.all(
      Array.from({ length: 249 }, (_, n) => seeded.addOrganization(`o${n}`)),
    )
    await noteFound()
    await db('levels').update({ status: 'active' })
    const statements: string[] = []
    const take = ({ sql }: { sql: string }) => statements.push(sql)
    db.on('query', take)
    await Promise.all([noteFound(), noteFound()])
    db.off('query', take)
    assert.ok(statements.length < 100, statements.join('\n'))
    const changes = await db('statusChanges').where({ toStatus: 'active' })
    assert.equal(changes.length, organizations.length + 1)
    assert.deepEqual([...new Set(changes.map(({ number }) => number))], [2])
    assert.deepEqual([...new Set(changes.map(({ why }) => why))], ['retired'], 'no version is deployed')
  })

  it('of an installation without one is recorded', async () => {
    const { installationId } = await seeded.addOrganization('other')
    await noteFound()
    const rows = await seeded.db('statusChanges').where({ installationId })
    assert.deepEqual(short(rows), ['1 null > pending: recorded'])
  })
})
