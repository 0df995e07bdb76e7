import { copyBytes } from '../file/blob.ts'
import { cryptoKeyId, isCryptoKey } from './crypto-key.ts'

/** Members of the dictionaries of Web Crypto: algorithms and JSON Web Keys. No other is looked at. */
const algorithmMembers =
  'name hash iv additionalData tagLength length counter salt info iterations label saltLength namedCurve ' +
  'modulusLength publicExponent public context'
const webKeyMembers = 'kty use key_ops alg ext crv x y d n e p q dp dq qi k'
const members = `${algorithmMembers} ${webKeyMembers}`.split(' ')

const depthLimit = 4

/**
 * The arguments of a call of `crypto.subtle` as JSON, and all bytes in them as one buffer. `{ "$bytes": [start,
 * length] }` stands for bytes, `{ "$key": id }` for a key; `undefined` is null.
 */
export const writeArguments = (args: unknown[]): { text: string; bytes: ArrayBuffer | undefined } => {
  const pieces: Uint8Array[] = []
  let size = 0

  const write = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
    if (typeof value !== 'object' || value === null) return null
    if (isCryptoKey(value)) return { $key: cryptoKeyId(value) }
    const bytes = copyBytes(value)
    if (bytes !== undefined) {
      pieces.push(bytes)
      size += bytes.byteLength
      return { $bytes: [size - bytes.byteLength, bytes.byteLength] }
    }
    if (depth >= depthLimit) throw new TypeError('An argument of crypto.subtle is nested too deeply')
    if (Array.isArray(value)) return value.map((item) => write(item, depth + 1))
    const dictionary: Record<string, unknown> = {}
    for (const member of members) {
      const given = (value as Record<string, unknown>)[member]
      if (given !== undefined) dictionary[member] = write(given, depth + 1)
    }
    return dictionary
  }

  const text = JSON.stringify(args.map((value) => write(value, 0)))
  if (pieces.length === 0) return { text, bytes: undefined }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const piece of pieces) {
    bytes.set(piece, offset)
    offset += piece.byteLength
  }
  return { text, bytes: bytes.buffer }
}
