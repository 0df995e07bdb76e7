import { CryptoCallError } from './crypto-error.ts'
import type { KeyTable } from './crypto-keys.ts'

/** Members of the dictionaries of Web Crypto: algorithms and JSON Web Keys. Others are refused. */
const members = new Set(
  (
    'name hash iv additionalData tagLength length counter salt info iterations label saltLength namedCurve ' +
    'modulusLength publicExponent public context ' +
    'kty use key_ops alg ext crv x y d n e p q dp dq qi k'
  ).split(' '),
)

const depthLimit = 5
const listLimit = 32
/** RSA keys of 4096 bits take a second to make here, those of 16384 minutes. */
const maxModulusLength = 4096
const maxIterations = 2_000_000
/** In bits: of a key that is made or derived. */
const maxLength = 65_536

/**
 * Reads the arguments of a call as the guest wrote them: JSON, where `{ "$bytes": [start, length] }` is a part
 * of `bytes` and `{ "$key": id }` a key. All of it is hostile. Throws a CryptoCallError.
 */
export const readParameters = (args: unknown, bytes: ArrayBuffer | undefined, keys: KeyTable): unknown[] => {
  if (!Array.isArray(args) || args.length > listLimit) throw malformed('a list of arguments')
  return args.map((value) => {
    // The one number that is an argument by itself is the length of deriveBits.
    assertBounded('length', value)
    return read(value, 0)
  })

  function read(value: unknown, depth: number): unknown {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
    if (value === null) return null
    if (typeof value !== 'object' || depth > depthLimit) throw malformed('plain values')
    if (Array.isArray(value)) {
      if (value.length > listLimit) throw malformed('short lists')
      return value.map((item) => read(item, depth + 1))
    }
    if (Object.hasOwn(value, '$bytes')) return readBytes((value as { $bytes: unknown }).$bytes, bytes)
    if (Object.hasOwn(value, '$key')) return keys.get((value as { $key: number }).$key)
    return readDictionary(value, depth)
  }

  function readDictionary(value: object, depth: number): object {
    // No prototype: `__proto__` is not among the members, and nothing is inherited.
    const dictionary: Record<string, unknown> = Object.create(null)
    for (const [name, item] of Object.entries(value)) {
      if (!members.has(name)) throw malformed('known members')
      assertBounded(name, item)
      dictionary[name] = read(item, depth + 1)
    }
    return dictionary
  }
}

const readBytes = (range: unknown, bytes: ArrayBuffer | undefined): Uint8Array => {
  if (!Array.isArray(range) || range.length !== 2) throw malformed('a range of bytes')
  const [start, length] = range as [unknown, unknown]
  const available = bytes?.byteLength ?? 0
  if (!isSize(start) || !isSize(length) || start + length > available) throw malformed('a range of the bytes')
  return new Uint8Array(bytes ?? new ArrayBuffer(0), start, length)
}

const assertBounded = (name: string, value: unknown): void => {
  if (typeof value !== 'number') return
  const limit = { modulusLength: maxModulusLength, iterations: maxIterations, length: maxLength }[name]
  if (limit !== undefined && value > limit) {
    throw new CryptoCallError('OperationError', `"${name}" is at most ${limit} in a sandbox`)
  }
}

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const malformed = (wanted: string): CryptoCallError =>
  new CryptoCallError('TypeError', `The arguments of crypto.subtle are ${wanted}`)
