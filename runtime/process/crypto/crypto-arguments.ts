import { CryptoCallError } from './crypto-error.ts'
import type { KeyTable } from './crypto-keys.ts'
import { type ArgumentKind, algorithmNames, formats } from './crypto-operations.ts'

/** Members of the dictionaries of Web Crypto. Others are refused. */
const algorithmMembers = new Set(
  (
    'name hash iv additionalData tagLength length counter salt info iterations label saltLength namedCurve ' +
    'modulusLength publicExponent public context'
  ).split(' '),
)
const webKeyMembers = new Set('kty use key_ops alg ext crv x y d n e p q dp dq qi k oth'.split(' '))

const listLimit = 32
/** Of the material of one key, in any format. The largest in use, RSA of 8192 bits, has 5 KB. */
export const maxKeyBytes = 64 * 1024

type Reader = { bytes: ArrayBuffer | undefined; keys: KeyTable }

/**
 * Reads the arguments of a call as the guest wrote them: JSON, where `{ "$bytes": [start, length] }` is a part
 * of `bytes` and `{ "$key": id }` a key. All of it is hostile. Throws a CryptoCallError.
 */
export const readArguments = (kinds: readonly ArgumentKind[], args: unknown, from: Reader): unknown[] => {
  if (!Array.isArray(args) || args.length !== kinds.length) throw malformed('as many as the operation takes')
  return kinds.map((kind, i) => readers[kind](args[i], from))
}

const readers: Record<ArgumentKind, (value: unknown, from: Reader) => unknown> = {
  algorithm: (value, from) => readAlgorithm(value, from, 0),
  bytes: (value, { bytes }) => readBytes(value, bytes),
  key: (value, { keys }) => readKey(value, keys),
  'key data': (value, { bytes }) => {
    const data = isMarked(value, '$bytes') ? readBytes(value, bytes) : readWebKey(value)
    if (data instanceof Uint8Array && data.byteLength > maxKeyBytes) throw keyTooLarge()
    return data
  },
  format: (value) => {
    if (formats.has(value)) return value
    throw malformed('a format of keys that Web Crypto has')
  },
  flag: (value) => value === true,
  usages: (value) => readTexts(value),
  length: (value) => {
    if (value === null || typeof value === 'number') return value
    throw malformed('a length')
  },
}

function readAlgorithm(value: unknown, from: Reader, depth: number): object {
  if (typeof value !== 'object' || value === null || depth > 1) throw malformed('algorithms')
  // No prototype: `__proto__` is not among the members, and nothing is inherited.
  const algorithm: Record<string, unknown> = Object.create(null)
  for (const [name, item] of Object.entries(value)) {
    if (!algorithmMembers.has(name)) throw malformed('known members')
    algorithm[name] = readMember(name, item, from, depth)
  }
  if (algorithmNames.has(algorithm.name)) return algorithm
  throw new CryptoCallError('NotSupportedError', 'A sandbox does not have this algorithm')
}

function readMember(name: string, value: unknown, from: Reader, depth: number): unknown {
  if (typeof value === 'string' || typeof value === 'number') return value
  if (name === 'hash') return readAlgorithm(value, from, depth + 1)
  if (name === 'public') return readKey(value, from.keys)
  return readBytes(value, from.bytes)
}

/** A JSON Web Key: texts, one flag, one list of texts, and `oth`, which no operation takes. */
function readWebKey(value: unknown): object {
  if (typeof value !== 'object' || value === null) throw malformed('a key')
  const key: Record<string, unknown> = Object.create(null)
  let size = 0
  for (const [name, item] of Object.entries(value)) {
    if (!webKeyMembers.has(name)) throw malformed('known members')
    if (typeof item === 'string') size += item.length
    else if (typeof item !== 'boolean' && name !== 'oth') readTexts(item)
    key[name] = name === 'oth' ? [] : item
  }
  if (size > maxKeyBytes) throw keyTooLarge()
  return key
}

function readTexts(value: unknown): string[] {
  const isList = Array.isArray(value) && value.length <= listLimit
  if (isList && value.every((item) => typeof item === 'string' && item.length <= 100)) return value
  throw malformed('short lists of names')
}

function readKey(value: unknown, keys: KeyTable): unknown {
  if (isMarked(value, '$key')) return keys.get(value.$key)
  throw malformed('a key')
}

function readBytes(value: unknown, bytes: ArrayBuffer | undefined): Uint8Array<ArrayBuffer> {
  const range = isMarked(value, '$bytes') ? value.$bytes : undefined
  if (!Array.isArray(range) || range.length !== 2) throw malformed('a range of bytes')
  const [start, length] = range as [unknown, unknown]
  const available = bytes?.byteLength ?? 0
  if (!isSize(start) || !isSize(length) || start + length > available) throw malformed('a range of the bytes')
  return new Uint8Array(bytes ?? new ArrayBuffer(0), start, length)
}

const isMarked = <M extends string>(value: unknown, mark: M): value is Record<M, unknown> =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, mark)

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const keyTooLarge = (): CryptoCallError =>
  new CryptoCallError('OperationError', `A key has at most ${maxKeyBytes} bytes in a sandbox`)

const malformed = (wanted: string): CryptoCallError =>
  new CryptoCallError('TypeError', `The arguments of crypto.subtle are ${wanted}`)
