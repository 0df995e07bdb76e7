import type { webcrypto } from 'node:crypto'
import { CryptoCallError } from './crypto-error.ts'

/** The keys of one isolate. */
export type KeyTable = {
  /** Throws an InvalidAccessError where the id is unknown, or its key had to go. */
  get(id: number): webcrypto.CryptoKey
  /** Keeps a key, or both of a pair, and describes it as the guest may know it. */
  describe(result: unknown): unknown
}

/**
 * Keys of one isolate at a time. Scripts import one for each request and never say when they are done with it,
 * so the one that was used least recently goes first.
 */
const maxKeys = 1000

/** A table of keys for one isolate. */
export const createKeyTable = (): KeyTable => {
  const keys = new Map<number, webcrypto.CryptoKey>()
  let lastId = 0

  const keep = (key: webcrypto.CryptoKey): unknown => {
    const oldest = keys.keys().next()
    if (keys.size >= maxKeys && oldest.done === false) keys.delete(oldest.value)
    lastId += 1
    keys.set(lastId, key)
    const { type, extractable, algorithm, usages } = key
    return { id: lastId, type, extractable, algorithm: toPlainAlgorithm(algorithm), usages: [...usages] }
  }

  return {
    get(id) {
      const key = keys.get(id)
      if (key === undefined) {
        throw new CryptoCallError(
          'InvalidAccessError',
          `This CryptoKey is gone: a sandbox keeps the ${maxKeys} that were used last. Import it again.`,
        )
      }
      keys.delete(id)
      keys.set(id, key)
      return key
    },
    describe(result) {
      const pair = result as Partial<webcrypto.CryptoKeyPair>
      if (pair.publicKey === undefined || pair.privateKey === undefined) {
        return keep(result as webcrypto.CryptoKey)
      }
      return { publicKey: keep(pair.publicKey), privateKey: keep(pair.privateKey) }
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
