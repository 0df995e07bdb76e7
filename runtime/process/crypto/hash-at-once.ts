import {
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  timingSafeEqual,
  type webcrypto,
} from 'node:crypto'
import type { KeyTable } from './crypto-keys.ts'
import type { Operation } from './crypto-operations.ts'

/** 40 µs of SHA-256. What is longer is done in a thread. */
const maxBytes = 65_536

/** The names that OpenSSL has for the hashes of Web Crypto. */
const hashes: Record<string, string> = {
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
}

type Result = { value: unknown; bytes?: Uint8Array }

/**
 * Digests, and signs and verifies with HMAC: what a script does for each webhook that it takes. That takes 4 µs in
 * this thread, and 50 by way of another one. Whatever it is not sure about it leaves to Web Crypto: `undefined`.
 *
 * @param rawArgs as the guest wrote them: the key's id is in there
 */
export const hashAtOnce = (
  operation: Operation,
  args: unknown[],
  rawArgs: unknown,
  keys: KeyTable,
): Result | undefined => {
  const data = args.at(-1)
  if (!(data instanceof Uint8Array) || data.byteLength > maxBytes) return undefined
  const { name } = args[0] as { name: string }
  if (operation === 'digest') {
    const algorithm = hashes[name]
    return algorithm === undefined ? undefined : { value: null, bytes: hash(algorithm, data, 'buffer') }
  }
  if (name !== 'HMAC' || (operation !== 'sign' && operation !== 'verify')) return undefined
  const { key, secret } = keys.getSecret((rawArgs as [unknown, { $key: unknown }])[1].$key)
  const algorithm = hashOf(key)
  if (algorithm === undefined || secret === undefined || !key.usages.includes(operation)) return undefined
  const signature = createHmac(algorithm, secret).update(data).digest()
  if (operation === 'sign') return { value: null, bytes: signature }
  const given = args[2] as Uint8Array
  return { value: given.byteLength === signature.byteLength && timingSafeEqual(given, signature) }
}

const hashOf = (key: webcrypto.CryptoKey): string | undefined => {
  const { name, hash: of } = key.algorithm as { name: string; hash?: { name: string } }
  return name === 'HMAC' && of !== undefined ? hashes[of.name] : undefined
}

/**
 * The secret of a key for HMAC that is imported, once more: Node does not let what its webcrypto keeps be used by its
 * synchronous functions. Where a `length` shortens the key, there is none.
 */
export const hmacSecret = (operation: Operation, args: unknown[]): KeyObject | undefined => {
  if (operation !== 'importKey') return undefined
  const [, data, algorithm] = args as [
    unknown,
    Uint8Array | { k?: unknown },
    { name: string; length?: number },
  ]
  if (algorithm.name !== 'HMAC' || algorithm.length !== undefined) return undefined
  if (data instanceof Uint8Array) return createSecretKey(data)
  return typeof data.k === 'string' ? createSecretKey(data.k, 'base64url') : undefined
}
