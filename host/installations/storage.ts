import type { SecretBox } from '../access/secret-box.ts'
import { assertFits, assertShallow } from '../assert-json.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import {
  deleteExpiredValues,
  deleteValue,
  findValue,
  insertStore,
  listExpiredStores,
  listValues,
  lockStore,
  type Store,
  type StoreOwner,
  updateStore,
  upsertValue,
} from '../db/queries/stores.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { endpointPath, type LevelRef } from '../sandbox/level-ref.ts'
import type { MissedCalls } from './missed-calls.ts'
import { createReadable, type Reading, writerOf } from './shared-storage.ts'

/** Counted for each key besides its text and its value, as a key of a byte takes a row, too. */
const bytesBeside = 100

export type Written = { version: number }
/** The value is not at the version that the script named. `version` is the present one, if there is a value. */
export type Conflict = { conflict: true; version?: number }

export type Put = { key: string; value: unknown; ifVersion?: number; ifAbsent?: boolean; ttlSeconds?: number }

/**
 * Values that scripts store for a level. Each write is one transaction and gives the value a new version. Values are
 * encrypted: people see sizes alone.
 */
export type Storage = ReturnType<typeof createStorage>

/** A level's values, and the script that asks for them. */
type At = { level: LevelRef; by: Reading }

export function createStorage(
  {
    db,
    reader,
    box,
    onMissed,
  }: { db: Db; reader: Db; box: Pick<SecretBox, 'seal' | 'open'>; onMissed: MissedCalls['note'] },
  limits: { valueBytes: number; levelBytes: number },
) {
  return { get, list, put, delete: remove }

  async function get({ level, by }: At, key: string) {
    const found = await findValue(reader, endpointPath(level), key, nowOf(db))
    if (found === undefined) return undefined
    if (!(await createReadable(reader, level, by)(found))) {
      onMissed(found.writerInstallationId === null ? [] : [found.writerInstallationId])
      return undefined
    }
    const { version, expiresAt } = found
    return { value: JSON.parse(box.open(found.value)), version, ...expiryOf(expiresAt) }
  }

  /** @returns up to `limit` keys; `next` is the `after` of the next page */
  async function list(
    { level, by }: At,
    given: { prefix: string; after?: string | undefined; limit: number },
  ) {
    const { prefix, limit } = given
    const isReadable = createReadable(reader, level, by)
    const found: Awaited<ReturnType<typeof listValues>> = []
    for (let { after } = given, isMore = true; isMore && found.length <= limit; ) {
      const page = { prefix, after, limit: limit + 1, now: nowOf(db) }
      const values = await listValues(reader, endpointPath(level), page)
      for (const value of values) if (await isReadable(value)) found.push(value)
      isMore = values.length > limit
      after = values.at(-1)?.key
    }
    const items = found.slice(0, limit).map(({ key, version, bytes, expiresAt }) => ({
      ...{ key, version, bytes },
      ...expiryOf(expiresAt),
    }))
    return { items, ...(found.length > limit && { next: items.at(-1)?.key }) }
  }

  /** @throws AnnexError `bad_request`, `body_too_large`, `storage_quota`, `not_found` */
  async function put(at: At, { key, value, ttlSeconds, ...condition }: Put): Promise<Written | Conflict> {
    const text = JSON.stringify(value)
    assertFits(text, limits.valueBytes, (bytes) => tooLarge(key, bytes, limits.valueBytes))
    assertShallow(text, 'stored value')
    const bytes = Buffer.byteLength(key) + Buffer.byteLength(text) + bytesBeside
    return write(at, key, condition, async (transaction, store, before) => {
      const keys = store.keys + (before === undefined ? 1 : 0)
      const total = store.bytes + bytes - (before?.bytes ?? 0)
      if (total > limits.levelBytes) throw full(store.level, limits.levelBytes)
      const version = store.version + 1
      const expiresAt = ttlSeconds === undefined ? null : nowOf(db) + ttlSeconds * 1000
      const sealed = box.seal(text)
      const value = { level: store.level, key, value: sealed, bytes, version, expiresAt }
      await upsertValue(transaction, { ...value, ...writerOf(at) })
      await updateStore(transaction, { level: store.level, bytes: total, keys, version })
      return { version }
    })
  }

  async function remove(
    at: At,
    { key, ifVersion }: { key: string; ifVersion?: number },
  ): Promise<{ deleted: boolean } | Conflict> {
    const condition = ifVersion === undefined ? {} : { ifVersion }
    return write(at, key, condition, async (transaction, store, before) => {
      if (before === undefined) return { deleted: false }
      await deleteValue(transaction, store.level, key)
      const left = { bytes: store.bytes - before.bytes, keys: store.keys - 1 }
      await updateStore(transaction, { ...store, ...left })
      return { deleted: true }
    })
  }

  /** Runs `act` in a transaction that has locked the store, if the value is as the condition says. */
  function write<Result>(
    { level, by }: At,
    key: string,
    { ifVersion, ifAbsent }: Pick<Put, 'ifVersion' | 'ifAbsent'>,
    act: (transaction: Db, store: Store, before: { bytes: number } | undefined) => Promise<Result>,
  ): Promise<Result | Conflict> {
    return transact(db, async (transaction) => {
      const store = await openStore(transaction, level)
      const now = nowOf(db)
      await dropExpired(transaction, store, now)
      const before = await findValue(transaction, store.level, key, now)
      // A value that the script may not read is absent for it, and may be replaced.
      const seen = before && (await createReadable(transaction, level, by)(before)) ? before : undefined
      const isAsked =
        (ifVersion === undefined || seen?.version === ifVersion) && (ifAbsent !== true || seen === undefined)
      if (isAsked) return act(transaction, store, before)
      return { conflict: true, ...(seen && { version: seen.version }) }
    })
  }
}

/** Removes expired values of all levels. */
export async function pruneStores(db: Db, signal: AbortSignal): Promise<void> {
  for (const level of await listExpiredStores(db, nowOf(db), 1_000)) {
    if (signal.aborted) return
    await transact(db, async (transaction) => {
      const store = await lockStore(transaction, level)
      if (store !== undefined) await dropExpired(transaction, store, nowOf(db))
    })
  }
}

/** Changes `store` too. */
async function dropExpired(transaction: Db, store: Store, now: number): Promise<void> {
  const dropped = await deleteExpiredValues(transaction, store.level, now)
  if (dropped.length === 0) return
  store.bytes -= dropped.reduce((sum, bytes) => sum + bytes, 0)
  store.keys -= dropped.length
  await updateStore(transaction, store)
}

/** @throws AnnexError `not_found` when the level was uninstalled meanwhile */
async function openStore(transaction: Db, level: LevelRef): Promise<Store> {
  const owner = ownerOf(level)
  const found = await lockStore(transaction, owner.level)
  if (found !== undefined) return found
  const isThere = await insertStore(transaction, owner)
  const created = isThere ? await lockStore(transaction, owner.level) : undefined
  if (created !== undefined) return created
  throw new AnnexError('not_found', `Nothing was stored: ${owner.level} is not installed any more.`)
}

function ownerOf(level: LevelRef): StoreOwner {
  return {
    level: endpointPath(level),
    integration: level.integration,
    installationId: level.kind === 'integration' ? null : level.installationId,
    placeKind: 'placeId' in level ? level.kind : null,
    placeId: 'placeId' in level ? level.placeId : null,
  }
}

const expiryOf = (expiresAt: number | null): { expiresAt?: string } =>
  expiresAt === null ? {} : { expiresAt: new Date(expiresAt).toISOString() }

const tooLarge = (key: string, bytes: number, most: number): string =>
  `The value of "${key}" was not stored: it has ${bytes} bytes as JSON, and at most ${most} are stored (STORAGE_VALUE_BYTES). Split it over several keys.`

const full = (level: string, most: number): AnnexError =>
  new AnnexError(
    'storage_quota',
    `Nothing was stored: ${level} would hold more than ${most} bytes (STORAGE_LEVEL_MB). Delete keys, or give them a ttlSeconds.`,
  )
