import type { KeyObject, webcrypto } from 'node:crypto'
import { CryptoCallError } from './crypto-error.ts'

/** The keys of one sandbox. */
export type KeyTable = {
  /** Throws an InvalidAccessError where the id is unknown, or its key had to go. */
  get: (id: unknown) => webcrypto.CryptoKey
  /** The same key as Node's synchronous functions take it, where it was given one. */
  getSecret: (id: unknown) => { key: webcrypto.CryptoKey; secret: KeyObject | undefined }
  /**
   * Keeps a key, or both of a pair, and describes it as the guest may know it. `materialBytes` is the size of what it
   * was made from: some keys do not tell their own.
   */
  describe: (result: unknown, materialBytes: number, secret?: KeyObject) => unknown
  /** Forgets keys that the guest has no object for any more. */
  release: (ids: unknown) => void
  clear: () => void
}

/**
 * Keys are memory outside the sandbox's heap, which its heap limit does not see: 3.4 KB for a small one. Over one of
 * these, the one that was used least recently goes. That is rare for an honest script, which imports a key for each
 * request and drops it: its prelude tells which keys are garbage.
 */
const maxKeys = 4096
const maxKeptBytes = 16 * 1024 * 1024
const overheadBytes = 4096
/** Node makes the public key of larger ones, and computes with it, but for how long. */
const maxModulusLength = 8192

type Kept = { key: webcrypto.CryptoKey; secret: KeyObject | undefined; bytes: number }

/** A table of keys for one sandbox. An id is known in the table that gave it, and in no other. */
export const createKeyTable = (): KeyTable => {
  const keys = new Map<number, Kept>()
  let lastId = 0
  let keptBytes = 0

  const find = (id: unknown): Kept => {
    const kept = typeof id === 'number' ? keys.get(id) : undefined
    if (kept === undefined) {
      throw new CryptoCallError(
        'InvalidAccessError',
        `This CryptoKey is gone: a sandbox keeps the ${maxKeys} keys that were used last, of ` +
          `${maxKeptBytes / 1024 / 1024} MB in all. Import it again.`,
      )
    }
    // To the end: the order of a Map is that of insertion.
    keys.delete(id as number)
    keys.set(id as number, kept)
    return kept
  }

  const forget = (id: unknown): void => {
    const kept = keys.get(id as number)
    if (kept === undefined) return
    keptBytes -= kept.bytes
    keys.delete(id as number)
  }

  const keep = (key: webcrypto.CryptoKey, materialBytes: number, secret?: KeyObject): unknown => {
    const { type, extractable, algorithm, usages } = key
    const { length, modulusLength } = algorithm as { length?: number; modulusLength?: number }
    if (modulusLength !== undefined && modulusLength > maxModulusLength) {
      throw new CryptoCallError('OperationError', `An RSA key has at most ${maxModulusLength} bits here`)
    }
    // Of a private RSA key, eight numbers of the size of the modulus are kept.
    const bytes = overheadBytes + materialBytes + (length ?? (modulusLength ?? 0) * 8) / 8
    lastId += 1
    keys.set(lastId, { key, secret, bytes })
    keptBytes += bytes
    for (const oldest of keys.keys()) {
      if (keys.size <= maxKeys && keptBytes <= maxKeptBytes) break
      forget(oldest)
    }
    return { id: lastId, type, extractable, algorithm: toPlainAlgorithm(algorithm), usages: [...usages] }
  }

  return {
    get: (id) => find(id).key,
    getSecret: (id) => find(id),
    describe(result, materialBytes, secret) {
      const pair = result as Partial<webcrypto.CryptoKeyPair>
      if (pair.publicKey === undefined || pair.privateKey === undefined) {
        return keep(result as webcrypto.CryptoKey, materialBytes, secret)
      }
      return {
        publicKey: keep(pair.publicKey, materialBytes),
        privateKey: keep(pair.privateKey, materialBytes),
      }
    },
    release(ids) {
      if (Array.isArray(ids)) for (const id of ids) forget(id)
    },
    clear() {
      keys.clear()
      keptBytes = 0
    },
  }
}

/** Bytes, of which there is only the public exponent, as a list of numbers. */
const toPlainAlgorithm = (algorithm: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(algorithm).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? [...value] : value,
    ]),
  )
