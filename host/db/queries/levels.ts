import type { Knex } from 'knex'
import { announce } from '../announce.ts'
import type { Db } from '../db.ts'
import { inPage, type PageAt } from '../page.ts'
import {
  findInstallation,
  type Installation,
  installationRows,
  type LevelColumns,
  type LevelKey,
  lockInstallation,
  newLevel,
  openColumns,
  type PlaceKind,
  type Signer,
  type Stored,
  type StoredInstallation,
  toInstallation,
  toRow,
} from './installations.ts'
import { levelsNamed } from './level-external-ids.ts'
import { type Reach, whereReached } from './reach.ts'

/** An installation in one site or space, without its account. */
export type PlaceRow = LevelColumns & { installationId: string; kind: PlaceKind; placeId: string }

/** The level of one site or space of an installation. */
export type PlaceLevel = PlaceRow & { above: Installation }

/** Settings with a signing secret: those of an account, or of one of its sites or spaces. */
export type Level = Installation | PlaceLevel

export const installationOf = (level: Level): Installation => level.above ?? level

/** From the account down. A level inherits values of those above it. */
export const levelsTo = (level: Level): Level[] =>
  level.above === undefined ? [level] : [level.above, level]

export const keyOf = (level: Level): LevelKey => ({
  installationId: installationOf(level).id,
  kind: level.kind,
  placeId: level.placeId,
})

/** A level's key as one text, for maps and sets. */
export const textOfKey = ({ installationId, kind, placeId }: LevelKey): string =>
  `${installationId} ${kind} ${placeId}`

/** @returns undefined when the integration is installed there already */
export async function insertPlaceLevel(
  db: Db,
  above: Installation,
  given: { kind: PlaceKind; placeId: string; signingSecret: string },
): Promise<PlaceLevel | undefined> {
  const { signingSecret, ...place } = given
  const [inserted] = await db('levels')
    .insert({ installationId: above.id, ...place, ...newLevel(signingSecret, Date.now()) })
    .onConflict(['installationId', 'kind', 'placeId'])
    .ignore()
    .returning('*')
  return inserted && { ...toPlaceRow(db, inserted), above }
}

export async function findPlaceLevel(
  db: Db,
  above: Installation,
  place: { kind: PlaceKind; placeId: string },
): Promise<PlaceLevel | undefined> {
  const row = await db('levels')
    .where({ ...place, installationId: above.id })
    .first()
  return row && { ...toPlaceRow(db, row), above }
}

export async function findLevel(
  db: Db,
  { installationId, kind, placeId }: LevelKey,
): Promise<Level | undefined> {
  const installation = await findInstallation(db, installationId)
  if (installation === undefined || kind === 'account') return installation
  return findPlaceLevel(db, installation, { kind, placeId })
}

/** Levels where a connection with another account waits for a yes. */
export async function listHoldingLevels(db: Db): Promise<LevelKey[]> {
  return db('levels')
    .whereRaw(`setting_details like '%"held":true%'`)
    .whereNull('removingAt')
    .select('installationId', 'kind', 'placeId')
}

/** The secrets of a level, for signing alone. */
export async function findSigner(db: Db, key: LevelKey): Promise<Signer | undefined> {
  return rowOf(db, key).first('signingSecret', 'previousSigningSecret', 'previousSecretUntil', 'firstSecret')
}

/** Locks the level: other edits wait for the transaction. @returns undefined when it has ended */
export async function lockRow(transaction: Db, level: Level): Promise<Level | undefined> {
  if (level.above === undefined) return lockInstallation(transaction, level.id)
  const row = await rowOf(transaction, keyOf(level)).forUpdate().first()
  return row && { ...toPlaceRow(transaction, row), above: level.above }
}

/** In the order of their sites or spaces, the oldest first. */
export async function listPlaceLevels(
  db: Db,
  above: Installation,
  kind: PlaceKind,
  at: PageAt,
): Promise<PlaceLevel[]> {
  const query = db('levels').where({ installationId: above.id, kind }).whereNull('removingAt')
  const rows: Stored<PlaceRow>[] = await inPage(query, 'placeId', at)
  return rows.map((row) => ({ ...toPlaceRow(db, row), above }))
}

/** All sites and spaces of an installation. */
export const readPlaceLevels = (db: Db, above: Installation): Promise<PlaceLevel[]> =>
  readPlaceLevelsOf(db, [above])

/** All sites and spaces of these installations. */
export async function readPlaceLevelsOf(
  db: Db,
  installations: readonly Installation[],
): Promise<PlaceLevel[]> {
  const byId = new Map(installations.map((above) => [above.id, above]))
  const rows: Stored<PlaceRow>[] = await db('levels')
    .whereIn('installationId', [...byId.keys()])
    .whereIn('kind', ['site', 'space'])
    .whereNull('removingAt')
  return rows.flatMap((row) => {
    const above = byId.get(row.installationId)
    return above === undefined ? [] : [{ ...toPlaceRow(db, row), above }]
  })
}

/** A script and an answer of the API have at most this many of an installation. */
const maxSpaces = 1_000

/** The oldest space first, at most 1,000. */
export async function listSpaceIds(db: Db, installationId: string): Promise<string[]> {
  const rows = await db('levels')
    .where({ installationId, kind: 'space' })
    .whereNull('removingAt')
    .orderBy('placeId')
    .limit(maxSpaces)
    .select('placeId')
  return rows.map(({ placeId }) => placeId)
}

/** As `listSpaceIds`, for each of the installations. */
export async function listSpaceIdsOf(db: Db, installationIds: string[]): Promise<Map<string, string[]>> {
  const spaces = new Map<string, string[]>(installationIds.map((id) => [id, []]))
  if (installationIds.length === 0) return spaces
  const numbered = db('levels')
    .where({ kind: 'space' })
    .whereIn('installationId', installationIds)
    .whereNull('removingAt')
    .select('installationId', 'placeId')
    .rowNumber('number', (over) => over.partitionBy('installationId').orderBy('placeId'))
  const rows: { installationId: string; placeId: string }[] = await db
    .from(numbered.as('numbered') as never)
    .where('number', '<=', maxSpaces)
    .select('installationId', 'placeId')
  for (const { installationId, placeId } of rows) spaces.get(installationId)?.push(placeId)
  // Here, as an ORDER BY of the statement would sort without an index.
  for (const ids of spaces.values()) ids.sort()
  return spaces
}

/** Sites or spaces in the list of an integration. `after`: the last one of the page before. */
export type PlacePage = {
  integration: string
  kind: PlaceKind
  organizationId?: string
  externalId?: string
  reach?: Reach
  after?: Pick<PlaceRow, 'installationId' | 'placeId'>
  limit: number
}

/** The levels of an integration's sites or spaces, in all organizations or in one. */
export async function listPlacesOfIntegration(
  db: Db,
  { integration, kind, organizationId, externalId, reach, after, limit }: PlacePage,
): Promise<PlaceLevel[]> {
  const query = db('installations')
    .select('levels.*')
    // SQLite keeps to the order of a cross join, and reads both tables in the order of the page.
    .crossJoin('levels' as never)
    .where('levels.installationId', db.ref('installations.id'))
    .where({ integration, kind })
    .whereNull('installations.removingAt')
    .whereNull('levels.removingAt')
    .orderBy(['installations.id', 'placeId'])
    .limit(limit)
  if (organizationId !== undefined) query.where({ organizationId })
  if (reach !== undefined) whereReached(query, reach)
  if (externalId !== undefined) {
    const named = () => levelsNamed(db, { integration, kind, externalId })
    query.whereIn('installations.id', named().select('installationId'))
    query.whereIn(['installationId', 'placeId'], named().select('installationId', 'targetId'))
  }
  if (after !== undefined) {
    // The first condition is for the index.
    query.where('installations.id', '>=', after.installationId)
    query.whereRaw('(installations.id, place_id) > (?, ?)', [after.installationId, after.placeId])
  }
  const places = (await query).map((row) => toPlaceRow(db, row))
  if (places.length === 0) return []
  const ids = places.map(({ installationId }) => installationId)
  const rows: StoredInstallation[] = await installationRows(db).whereIn('id', ids)
  const installations = new Map(rows.map((row) => [row.id, toInstallation(db, row)]))
  return places.flatMap((place) => {
    const above = installations.get(place.installationId)
    return above === undefined ? [] : [{ ...place, above }]
  })
}

/** What is installed in a site or space, and may get its events. */
export async function listPlaceRowsOn(db: Db, kind: PlaceKind, placeId: string): Promise<PlaceRow[]> {
  const rows = await db('levels').where({ kind, placeId }).whereNull('removingAt').orderBy('createdAt')
  return rows.map((row) => toPlaceRow(db, row))
}

export async function updateLevel(
  db: Db,
  level: Level,
  change: Partial<Pick<LevelColumns, 'configuration' | 'settingDetails' | 'externalIds'>>,
): Promise<void> {
  await rowOf(db, keyOf(level)).update(toRow(db, change))
  announce(db, 'changed')
}

/** @returns false when another request has changed the secret since it was read */
export async function changeSecrets(db: Db, level: Level, to: Signer): Promise<boolean> {
  const updatedAt = Date.now()
  const { signingSecret } = level
  const changed = await rowOf(db, keyOf(level))
    .where({ signingSecret })
    .update({ ...to, updatedAt })
  return changed > 0
}

/** Activates a level, and drops the reason of a failed setup. A hold of its installation stays. */
export async function activateLevel(db: Db, level: Level): Promise<void> {
  await rowOf(db, keyOf(level)).update({ status: 'active', statusReason: null, updatedAt: Date.now() })
  announce(db, 'changed')
}

/** Stores why the setup of a level has failed, or that it has not. */
export async function noteSetupFailure(db: Db, level: Level, statusReason: string | null): Promise<void> {
  await rowOf(db, keyOf(level)).update({ statusReason })
  announce(db, 'changed')
}

/** Hides a level from people and visitors. */
export async function markRemoving(db: Db, key: LevelKey): Promise<void> {
  const removingAt = Date.now()
  await rowOf(db, key).update({ removingAt })
  if (key.kind === 'account')
    await db('installations').where({ id: key.installationId }).update({ removingAt })
}

export const rowOf = (db: Db, { installationId, kind, placeId }: LevelKey): Knex.QueryBuilder =>
  db('levels').where({ installationId, kind, placeId })

function toPlaceRow(db: Db, row: Stored<PlaceRow>): PlaceRow {
  return { ...row, ...openColumns(db, row) }
}
