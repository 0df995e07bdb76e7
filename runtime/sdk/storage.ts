import type { HostAccess } from './host-access.ts'

/** A stored value. `version` is another number after each write of the key. */
export type StoredValue<Value = unknown> = { value: Value; version: number; expiresAt?: string }

/**
 * Values of one level: JSON of at most 64 KB each, and 10 MB together. They outlive the sandbox, are encrypted, and end when the
 * integration is uninstalled there. People see their sizes alone.
 */
export type Storage = {
  get<Value = unknown>(key: string): Promise<StoredValue<Value> | undefined>
  /** The keys in order, 100 at once by default and 1,000 at most. `next` is the `after` of the next page. */
  list(options?: { prefix?: string; after?: string; limit?: number }): Promise<{
    items: { key: string; version: number; bytes: number; expiresAt?: string }[]
    next?: string
  }>
  /**
   * Stores a value. `ifVersion` stores it only where the value is still at that version, and `ifAbsent` only where there is none:
   * else it rejects with a `StorageConflict`. After `ttlSeconds` the value is gone.
   */
  put(
    key: string,
    value: unknown,
    options?: { ifVersion?: number; ifAbsent?: boolean; ttlSeconds?: number },
  ): Promise<{ version: number }>
  /** Resolves to whether there was a value. Rejects with a `StorageConflict` where it is not at `ifVersion`. */
  delete(key: string, options?: { ifVersion?: number }): Promise<boolean>
}

/** The storage of the dispatch's level. */
export type LevelStorage = Storage & {
  /** The storage of a level above. That of the integration is shared by all its installations. */
  of(level: 'integration' | 'installation'): Storage
}

/** Another write came first: the value is not at the version that was named. Read it again, and decide again. */
export class StorageConflict extends Error {
  /** The present version; `undefined` where there is no value. */
  readonly version: number | undefined

  constructor(key: string, version: number | undefined) {
    super(`The value of "${key}" was changed meanwhile`)
    this.name = 'StorageConflict'
    this.version = version
  }
}

type Conflict = { conflict: true; version?: number }

export const createLevelStorage = (host: HostAccess): LevelStorage => ({
  ...createStorage(host),
  of: (level) => createStorage(host, level),
})

const createStorage = (host: HostAccess, of?: 'integration' | 'installation'): Storage => ({
  async get<Value>(key: string) {
    return ((await host.call('storage_get', { of, key })) as StoredValue<Value> | null) ?? undefined
  },
  async list(options = {}) {
    return (await host.call('storage_list', { of, ...options })) as Awaited<ReturnType<Storage['list']>>
  },
  async put(key, value, options = {}) {
    if (JSON.stringify(value) === undefined) throw new TypeError(`The value of "${key}" is no JSON value`)
    return expectNoConflict<{ version: number }>(
      key,
      await host.call('storage_put', { ...options, of, key, value }),
    )
  },
  async delete(key, options = {}) {
    const answer = await host.call('storage_delete', { ...options, of, key })
    return expectNoConflict<{ deleted: boolean }>(key, answer).deleted
  },
})

const expectNoConflict = <Answer extends object>(key: string, answer: unknown): Answer => {
  const given = answer as Answer | Conflict
  if ('conflict' in given) throw new StorageConflict(key, given.version)
  return given
}
