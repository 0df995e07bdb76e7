import { createTable, NativeTypeError, numberText } from '../primordials.ts'
import type { AlgorithmUse } from './algorithm-table.ts'
import { type CallWriter, createCallWriter, keyText, listText } from './call-writer.ts'
import { asBytes, toBytes, toTexts, toUnsignedLong } from './conversions.ts'
import { isCryptoKey } from './crypto-key.ts'
import { webKeyText } from './json-web-key.ts'
import { normalizeAlgorithm, toIdentifier } from './normalize-algorithm.ts'

type Kind =
  | 'format'
  | 'key'
  | 'bytes'
  | 'key data'
  | 'flag'
  | 'usages'
  | 'length'
  | { algorithm: AlgorithmUse }

/** Web Crypto, 14: the arguments of each method. */
const signatures = {
  digest: [{ algorithm: 'digest' }, 'bytes'],
  encrypt: [{ algorithm: 'encrypt' }, 'key', 'bytes'],
  decrypt: [{ algorithm: 'encrypt' }, 'key', 'bytes'],
  sign: [{ algorithm: 'sign' }, 'key', 'bytes'],
  verify: [{ algorithm: 'sign' }, 'key', 'bytes', 'bytes'],
  generateKey: [{ algorithm: 'generateKey' }, 'flag', 'usages'],
  importKey: ['format', 'key data', { algorithm: 'importKey' }, 'flag', 'usages'],
  exportKey: ['format', 'key'],
  deriveBits: [{ algorithm: 'deriveBits' }, 'key', 'length'],
  // The members for `getKeyLength` include those for `importKey`.
  deriveKey: [{ algorithm: 'deriveBits' }, 'key', { algorithm: 'getKeyLength' }, 'flag', 'usages'],
  wrapKey: ['format', 'key', 'key', { algorithm: 'wrapKey' }],
  unwrapKey: [
    'format',
    'bytes',
    'key',
    { algorithm: 'wrapKey' },
    { algorithm: 'importKey' },
    'flag',
    'usages',
  ],
} as const satisfies Record<string, readonly Kind[]>

export type SubtleOperation = keyof typeof signatures

/**
 * The arguments of a method as a call: all of them converted as Web IDL says, in their order, then the algorithms
 * normalized, then bytes copied. So the first mistake is the one that a browser would complain of.
 */
export const writeCall = (
  operation: SubtleOperation,
  given: readonly unknown[],
): { text: string; bytes: ArrayBuffer | undefined } => {
  const kinds: readonly Kind[] = signatures[operation]
  const call = createCallWriter()
  // No arrays: a setter that a script put on Array.prototype would write parts of this text.
  const converted = createTable<unknown>()
  for (let i = 0; i < kinds.length; i++)
    converted[i] = convert(kinds[i], given[i], `${operation}: argument ${i + 1}`)
  const texts = createTable<string>()
  for (let i = 0; i < kinds.length; i++) {
    const kind = kinds[i]
    if (typeof kind === 'object') {
      texts[i] = normalizeAlgorithm(kind.algorithm, converted[i] as object | string, call)
    }
  }
  let text = ''
  for (let i = 0; i < kinds.length; i++) {
    text += `${i === 0 ? '' : ','}${texts[i] ?? toJson(converted[i], call)}`
  }
  return { text: `[${text}]`, bytes: call.bytes() }
}

/** A text result is JSON already; bytes are copied later. */
const convert = (kind: Kind | undefined, value: unknown, what: string): unknown => {
  switch (kind) {
    case 'format':
      return toFormat(value, what)
    case 'key':
      if (isCryptoKey(value)) return keyText(value)
      throw new NativeTypeError(`${what} must be a CryptoKey`)
    case 'bytes':
      return toBytes(value, what)
    case 'key data':
      return asBytes(value) ?? webKeyText(value)
    case 'flag':
      return value ? 'true' : 'false'
    case 'usages':
      return toUsages(value, what)
    case 'length':
      return value === undefined || value === null ? 'null' : numberText(toUnsignedLong(value))
    default:
      return toIdentifier(value)
  }
}

const toJson = (converted: unknown, call: CallWriter): string =>
  typeof converted === 'string' ? converted : call.addBytes(converted as Uint8Array)

const toFormat = (value: unknown, what: string): string => {
  const text = `${value as string}`
  if (text === 'raw' || text === 'pkcs8' || text === 'spki' || text === 'jwk') return `"${text}"`
  throw new NativeTypeError(`${what} must be "raw", "pkcs8", "spki" or "jwk"`)
}

const knownUsages = 'encrypt decrypt sign verify deriveKey deriveBits wrapKey unwrapKey'.split(' ')

/** Each at most once: the order and the number of repeats mean nothing. */
const toUsages = (value: unknown, what: string): string => {
  const given = toTexts(value, what)
  const usages: string[] = []
  for (let i = 0; i < given.length; i++) {
    const usage = given[i] ?? ''
    if (!includes(knownUsages, usage)) throw new NativeTypeError(`${what} has an unknown usage`)
    if (!includes(usages, usage)) usages[usages.length] = usage
  }
  return listText(usages)
}

const includes = (list: readonly string[], item: string): boolean => {
  for (let i = 0; i < list.length; i++) if (list[i] === item) return true
  return false
}
