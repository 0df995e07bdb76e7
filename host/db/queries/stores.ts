import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import { isPostgres, rawRows } from '../sql.ts'
import type { LevelKey, PlaceKind } from './installations.ts'

/** The values that a script has stored for one level. `level` is the path of the level's endpoint. */
export type Store = {
  level: string
  integration: string
  installationId: string | null
  placeKind: PlaceKind | null
  placeId: string | null
  /** Of keys and values, with `bytesBeside` for each. */
  bytes: number
  keys: number
  /** The version of the value that was written last. It only grows, so a deleted key does not get an old version again. */
  version: number
}

export type StoreOwner = Omit<Store, 'bytes' | 'keys' | 'version'>

/** The table is older than the word place. */
const toColumns = ({ placeKind, placeId, ...owner }: StoreOwner) => ({
  ...owner,
  targetKind: placeKind,
  targetId: placeId,
})
const columns = [
  ...['level', 'integration', 'installationId', 'bytes', 'keys', 'version'],
  ...['targetKind as placeKind', 'targetId as placeId'],
]

/** `value` is sealed JSON. */
export type StoredValue = {
  level: string
  key: string
  value: string
  bytes: number
  version: number
  expiresAt: number | null
} & Writer

/** The script that has stored a value at the level of its integration. At other levels both are null. */
export type Writer = { writerVersionId: string | null; writerInstallationId: string | null }

/** Reads and locks a store: writes to it run one after the other. */
export async function lockStore(transaction: Db, level: string): Promise<Store | undefined> {
  return transaction('stores').where({ level }).forUpdate().first(columns)
}

/**
 * Creates a store, unless its level is gone: an uninstall ends the stores of its levels.
 *
 * @returns false when the level is gone
 */
export async function insertStore(transaction: Db, owner: StoreOwner): Promise<boolean> {
  if (!(await lockOwner(transaction, owner))) return false
  await transaction('stores')
    .insert({ ...toColumns(owner), bytes: 0, keys: 0, version: 0 })
    .onConflict('level')
    .ignore()
  return true
}

/** An uninstall waits for the lock. */
async function lockOwner(transaction: Db, { installationId, placeKind, placeId }: StoreOwner) {
  if (installationId === null) return true
  const installation = await transaction('installations')
    .where({ id: installationId })
    .whereNull('removedAt')
    .forUpdate()
    .first('id')
  if (installation === undefined || placeKind === null) return installation !== undefined
  const place = await transaction('levels')
    .where({ installationId, kind: placeKind, placeId })
    .forUpdate()
    .first('placeId')
  return place !== undefined
}

export async function updateStore(
  transaction: Db,
  { level, bytes, keys, version }: Pick<Store, 'level' | 'bytes' | 'keys' | 'version'>,
): Promise<void> {
  await transaction('stores').where({ level }).update({ bytes, keys, version })
}

/** The stores of an installation and of its sites and spaces. */
export async function listStores(db: Db, installationId: string): Promise<Store[]> {
  return db('stores').select(columns).where({ installationId }).orderBy('level')
}

/** Ends the stores of an installation, or that of one of its sites or spaces. */
export async function deleteStores(
  transaction: Db,
  { installationId, kind, placeId }: LevelKey,
): Promise<void> {
  const owner = kind === 'account' ? {} : { targetKind: kind, targetId: placeId }
  await transaction('stores')
    .where({ installationId, ...owner })
    .delete()
}

/** The levels of the first `limit` values that have expired. */
export async function listExpiredStores(db: Db, now: number, limit: number): Promise<string[]> {
  const query = db('storedValues').where('expiresAt', '<=', now).orderBy('expiresAt').limit(limit)
  const levels: string[] = await query.pluck('level')
  return [...new Set(levels)]
}

/** @returns the bytes of each */
export async function deleteExpiredValues(transaction: Db, level: string, now: number): Promise<number[]> {
  const sql = 'delete from stored_values where level = ? and expires_at <= ? returning bytes'
  const rows = await rawRows<{ bytes: number }>(transaction, sql, [level, now])
  return rows.map(({ bytes }) => bytes)
}

export async function findValue(
  db: Db,
  level: string,
  key: string,
  now: number,
): Promise<StoredValue | undefined> {
  return db('storedValues').where({ level, key }).where(isLive(now)).first()
}

/** The values whose keys begin with `prefix` and follow `after`, without the values themselves. */
export async function listValues(
  db: Db,
  level: string,
  { prefix, after, limit, now }: { prefix: string; after: string | undefined; limit: number; now: number },
): Promise<Omit<StoredValue, 'value'>[]> {
  // In the order of bytes on both databases, whatever the collation.
  const key = isPostgres(db) ? 'key collate "C"' : 'key'
  const query = db('storedValues').where({ level }).where(isLive(now)).orderByRaw(key).limit(limit)
  if (prefix !== '') query.whereRaw('substr(key, 1, length(?)) = ?', [prefix, prefix])
  if (after !== undefined) query.whereRaw(`${key} > ?`, [after])
  return query.select(
    ...['level', 'key', 'bytes', 'version', 'expiresAt'],
    ...['writerVersionId', 'writerInstallationId'],
  )
}

export async function upsertValue(transaction: Db, value: StoredValue): Promise<void> {
  await transaction('storedValues').insert(value).onConflict(['level', 'key']).merge()
}

export async function deleteValue(transaction: Db, level: string, key: string): Promise<void> {
  await transaction('storedValues').where({ level, key }).delete()
}

const isLive =
  (now: number) =>
  (query: Knex.QueryBuilder): void =>
    void query.whereNull('expiresAt').orWhere('expiresAt', '>', now)
