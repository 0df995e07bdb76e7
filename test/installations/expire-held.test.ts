// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { createSecretBox } from '../../host/access/secret-box.ts'
import type { SettingDetails } from '../../host/db/queries/installations.ts'
import { findLevel, insertPlaceLevel, type Level, updateLevel } from '../../host/db/queries/levels.ts'
import { openJson, useSealer } from '../../host/db/sealed-json.ts'
import { expireHeld } from '../../host/installations/expire-held.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const day = 86_400_000
const ada = { since: 1, account: 'ada' }
const heldAt = (at: number, account = 'eve') => ({
  connection: {
    ...ada,
    held: { account, at, edit: { configuration: { oauth_credentials: { access_token: 'token' } } } },
  },
})
const kept = { connection: ada }

type Ended = { connections: string[]; account: string }

describe('an account that waits for a yes', () => {
  let seeded: Seeded
  beforeEach(async () => {
    seeded = await openSeeded()
  })
  afterEach(() => seeded.close())

  const read = async (id: string, kind: 'account' | 'site' = 'account', placeId = ''): Promise<Level> => {
    const found = await findLevel(seeded.db, { installationId: id, kind, placeId })
    assert.ok(found)
    return found
  }
  const store = async (level: Level, settingDetails: SettingDetails): Promise<void> =>
    updateLevel(seeded.db, level, { settingDetails })
  const expire = (now: number) => expireHeld(seeded.db, seeded.database.longReader, { now })
  const audited = async () => {
    const entries = await seeded.db('audit').orderBy('id')
    return entries.map(({ after, ...entry }) => ({ ...entry, after: openJson(seeded.db, after) as Ended }))
  }

  it('is deleted after 24 hours, with its credentials, and the account before stays', async () => {
    const level = await read(seeded.installationId)
    await store(level, { account: heldAt(5), other: heldAt(6, 'bea'), held: kept })
    await expire(day + 4)
    assert.deepEqual((await read(seeded.installationId)).settingDetails.account, heldAt(5), 'not yet')
    await expire(day + 5)
    assert.deepEqual(
      { ...(await read(seeded.installationId)).settingDetails },
      {
        account: kept,
        other: heldAt(6, 'bea'),
        held: kept,
      },
    )
    await expire(9 * day)
    assert.deepEqual(
      { ...(await read(seeded.installationId)).settingDetails },
      { account: kept, other: kept, held: kept },
    )
    await expire(9 * day)
    const entries = await audited()
    assert.deepEqual(
      entries.map(({ action, actorKind, subjectId, after }) => [action, actorKind, subjectId, after]),
      [
        ['account', 'eve'],
        ['other', 'bea'],
      ].map(([name, account]) => [
        ...['connection.expire', 'system', seeded.installationId],
        { connections: [name], account },
      ]),
    )
  })

  it('is deleted in each organization, and at each site', async () => {
    const { installationId } = await seeded.addOrganization('elsewhere')
    const home = await read(seeded.installationId)
    assert.ok(home.above === undefined)
    const site = await insertPlaceLevel(seeded.db, home, {
      kind: 'site',
      placeId: 'site_1',
      signingSecret: 's',
    })
    assert.ok(site)
    await store(site, { account: heldAt(1) })
    await store(await read(installationId), { one: heldAt(2), two: heldAt(2) })
    await expire(3 * day)
    assert.deepEqual((await read(seeded.installationId, 'site', 'site_1')).settingDetails.account, kept)
    const { one, two } = (await read(installationId)).settingDetails
    assert.deepEqual([one, two], [kept, kept])
    assert.deepEqual((await audited()).map(({ after }) => after.connections.length).sort(), [1, 2])
  })

  it('stays where it was encrypted with another key', async () => {
    const level = await read(seeded.installationId)
    await store(level, { account: heldAt(1) })
    const { db, reader, longReader } = seeded.database
    useSealer([db, reader, longReader], createSecretBox(new Uint8Array(32).fill(1)))
    await expire(3 * day)
    useSealer([db, reader, longReader], createSecretBox(new Uint8Array(32)))
    assert.deepEqual((await read(seeded.installationId)).settingDetails.account, heldAt(1))
  })
})
