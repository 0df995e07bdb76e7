import { reflectApply } from '../primordials.ts'

/** Operations for which Web Crypto registers algorithms. `wrapKey` and `unwrapKey` fall back on the two before them. */
export type AlgorithmUse =
  | 'digest'
  | 'encrypt'
  | 'sign'
  | 'generateKey'
  | 'importKey'
  | 'deriveBits'
  | 'getKeyLength'
  | 'wrapKey'

/** How a member of a dictionary is converted; Web IDL, 3.2. Those that end in `?` may be missing. */
export type MemberKind =
  | 'bytes'
  | 'bytes?'
  | 'exponent'
  | 'octet'
  | 'octet?'
  | 'short'
  | 'long'
  | 'long?'
  | 'text'
  | 'hash'
  | 'key'
type Dictionary = readonly (readonly [member: string, kind: MemberKind])[]

// Members stand in the order in which Web IDL reads them: inherited ones first, then by name.
const nothing: Dictionary = []
const hash: Dictionary = [['hash', 'hash']]
const hmac: Dictionary = [...hash, ['length', 'long?']]
const curve: Dictionary = [['namedCurve', 'text']]
const keyLength: Dictionary = [['length', 'short']]
const rsaKey: Dictionary = [['modulusLength', 'long'], ['publicExponent', 'exponent'], ...hash]
const label: Dictionary = [['label', 'bytes?']]
const otherKey: Dictionary = [['public', 'key']]

type Uses = { readonly [use in AlgorithmUse]?: Dictionary }
const aes = (parameters: Dictionary): Uses => ({
  encrypt: parameters,
  wrapKey: parameters,
  generateKey: keyLength,
  importKey: nothing,
  getKeyLength: keyLength,
})
const rsaSignature = (parameters: Dictionary): Uses => ({
  sign: parameters,
  generateKey: rsaKey,
  importKey: hash,
})
const derivation = (parameters: Dictionary): Uses => ({
  deriveBits: parameters,
  importKey: nothing,
  getKeyLength: nothing,
})
const edwards = (parameters: Dictionary): Uses => ({
  sign: parameters,
  generateKey: nothing,
  importKey: nothing,
})
const montgomery: Uses = { deriveBits: otherKey, generateKey: nothing, importKey: nothing }
const digest: Uses = { digest: nothing }

/** Web Crypto, 18.4: what is registered. */
export const algorithms: Readonly<Record<string, Uses>> = {
  'SHA-1': digest,
  'SHA-256': digest,
  'SHA-384': digest,
  'SHA-512': digest,
  HMAC: { sign: nothing, generateKey: hmac, importKey: hmac, getKeyLength: hmac },
  'AES-CBC': aes([['iv', 'bytes']]),
  'AES-CTR': aes([
    ['counter', 'bytes'],
    ['length', 'octet'],
  ]),
  'AES-GCM': aes([
    ['additionalData', 'bytes?'],
    ['iv', 'bytes'],
    ['tagLength', 'octet?'],
  ]),
  'AES-KW': { wrapKey: nothing, generateKey: keyLength, importKey: nothing, getKeyLength: keyLength },
  'RSASSA-PKCS1-v1_5': rsaSignature(nothing),
  'RSA-PSS': rsaSignature([['saltLength', 'long']]),
  'RSA-OAEP': {
    encrypt: label,
    wrapKey: label,
    generateKey: rsaKey,
    importKey: hash,
  },
  ECDSA: { sign: hash, generateKey: curve, importKey: curve },
  ECDH: { deriveBits: otherKey, generateKey: curve, importKey: curve },
  Ed25519: edwards(nothing),
  Ed448: edwards([['context', 'bytes?']]),
  X25519: montgomery,
  X448: montgomery,
  HKDF: derivation([...hash, ['info', 'bytes'], ['salt', 'bytes']]),
  PBKDF2: derivation([...hash, ['iterations', 'long'], ['salt', 'bytes']]),
}

const canonical: Record<string, string | undefined> = Object.create(null)
for (const name of Object.keys(algorithms)) {
  canonical[name.toUpperCase()] = name
  canonical[name] = name
}
const upperCase = String.prototype.toUpperCase
const charCode = String.prototype.charCodeAt

/** The name of a registered algorithm as the standard writes it, in whatever case it is given. */
export const canonicalName = (name: string): string | undefined => {
  const known = canonical[name]
  if (known !== undefined || name.length > 20) return known
  // ASCII alone: the upper case of `ı` and `ſ` is ASCII too.
  for (let i = 0; i < name.length; i++) if (reflectApply(charCode, name, [i]) > 127) return undefined
  return canonical[reflectApply(upperCase, name, [])]
}
