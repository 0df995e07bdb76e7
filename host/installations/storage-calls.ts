import { AnnexError } from '../errors.ts'
import type { HostCall } from '../sandbox/host-calls.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import type { DispatchContext } from '../sandbox/target.ts'
import type { Put, Storage } from './storage.ts'

/** `of`: a level above that of the dispatch. */
type At = { of?: 'integration' | 'installation' }

const key = { type: 'string', minLength: 1, maxLength: 512 }
const whole = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
const of = { enum: ['integration', 'installation'] }
const longestTtlSeconds = 366 * 86_400
const mostListed = 1_000

const args = (required: string[], properties: object): object => ({
  type: 'object',
  required,
  additionalProperties: false,
  properties: { of, ...properties },
})

/** `context.storage`: values of the dispatch's level, or of a level above it. */
export function createStorageCalls(storage: Storage): HostCall[] {
  const get: HostCall<At & { key: string }> = {
    name: 'storage_get',
    args: args(['key'], { key }),
    async run({ key, of }, { context }) {
      assertPlain(key)
      return { value: (await storage.get(at(context, of), key)) ?? null }
    },
  }
  const list: HostCall<At & { prefix?: string; after?: string; limit?: number }> = {
    name: 'storage_list',
    args: args([], {
      prefix: { type: 'string', maxLength: 512 },
      after: key,
      limit: { type: 'integer', minimum: 1, maximum: mostListed },
    }),
    async run({ of, prefix = '', after, limit = 100 }, { context }) {
      assertPlain(prefix + (after ?? ''))
      return { value: await storage.list(at(context, of), { prefix, after, limit }) }
    },
  }
  const put: HostCall<At & Put> = {
    name: 'storage_put',
    args: args(['key', 'value'], {
      key,
      value: {},
      ifVersion: whole,
      ifAbsent: { type: 'boolean' },
      ttlSeconds: { type: 'integer', minimum: 1, maximum: longestTtlSeconds },
    }),
    async run({ of, ...given }, { context }) {
      assertPlain(given.key)
      return { value: await storage.put(at(context, of), given) }
    },
  }
  const remove: HostCall<At & { key: string; ifVersion?: number }> = {
    name: 'storage_delete',
    args: args(['key'], { key, ifVersion: whole }),
    async run({ of, ...given }, { context }) {
      assertPlain(given.key)
      return { value: await storage.delete(at(context, of), given) }
    },
  }
  return [get, list, put, remove] as HostCall[]
}

const at = (context: DispatchContext, of: At['of']) => ({
  level: levelOf(context, of),
  by: { versionId: context.versionId, installationId: context.installationId },
})

/** A script reaches its own level and those above it. @throws AnnexError `conflict` outside of an installation */
function levelOf({ level }: DispatchContext, of: At['of']): LevelRef {
  if (of === undefined) return level
  const { integration } = level
  if (of === 'integration') return { kind: 'integration', integration }
  if (level.kind !== 'integration') {
    return { kind: 'installation', integration, installationId: level.installationId }
  }
  throw new AnnexError('conflict', 'This dispatch is for no installation, so there is no storage of one.')
}

/** PostgreSQL refuses U+0000. SQLite changes half of a surrogate pair, so a later query would not find the key. */
function assertPlain(text: string): void {
  if (text.isWellFormed() && !text.includes('\0')) return
  throw new AnnexError('bad_request', 'A key of the storage holds U+0000, or half of a surrogate pair.')
}
