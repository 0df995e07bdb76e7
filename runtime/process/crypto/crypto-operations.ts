/** The kinds of the arguments of crypto calls, in the order of Web Crypto. */
export type ArgumentKind =
  | 'algorithm'
  | 'key'
  | 'bytes'
  | 'key data'
  | 'format'
  | 'flag'
  | 'usages'
  | 'length'

/** Each operation of `crypto.subtle`: its arguments. No other function of Node's webcrypto can be reached. */
export const operations = {
  digest: ['algorithm', 'bytes'],
  encrypt: ['algorithm', 'key', 'bytes'],
  decrypt: ['algorithm', 'key', 'bytes'],
  sign: ['algorithm', 'key', 'bytes'],
  verify: ['algorithm', 'key', 'bytes', 'bytes'],
  generateKey: ['algorithm', 'flag', 'usages'],
  importKey: ['format', 'key data', 'algorithm', 'flag', 'usages'],
  exportKey: ['format', 'key'],
  deriveBits: ['algorithm', 'key', 'length'],
  deriveKey: ['algorithm', 'key', 'algorithm', 'flag', 'usages'],
  wrapKey: ['format', 'key', 'key', 'algorithm'],
  unwrapKey: ['format', 'bytes', 'key', 'algorithm', 'algorithm', 'flag', 'usages'],
} as const satisfies Record<string, readonly ArgumentKind[]>

export type Operation = keyof typeof operations

/** Operations whose result is a key, or a pair of keys. */
export const makesKeys: ReadonlySet<Operation> = new Set([
  'generateKey',
  'importKey',
  'deriveKey',
  'unwrapKey',
] as const)

/**
 * The algorithms that a sandbox has. Node knows more, and among them Argon2, which takes as much memory as it is
 * told to: memory outside the heap, in a thread that cannot be stopped.
 */
export const algorithmNames: ReadonlySet<unknown> = new Set([
  'SHA-1',
  'SHA-256',
  'SHA-384',
  'SHA-512',
  'HMAC',
  'AES-CBC',
  'AES-CTR',
  'AES-GCM',
  'AES-KW',
  'RSASSA-PKCS1-v1_5',
  'RSA-PSS',
  'RSA-OAEP',
  'ECDSA',
  'ECDH',
  'Ed25519',
  'Ed448',
  'X25519',
  'X448',
  'HKDF',
  'PBKDF2',
])

export const formats: ReadonlySet<unknown> = new Set(['raw', 'pkcs8', 'spki', 'jwk'])
