import type { webcrypto } from 'node:crypto'
import { maxKeyBytes } from './crypto-arguments.ts'
import { CryptoCallError } from './crypto-error.ts'
import type { Operation } from './crypto-operations.ts'

/**
 * An operation of Node's cannot be stopped, so each is bounded before it begins. Measured on one core of 2024:
 * making an RSA key of 2048 bits takes 40 ms, of 4096 bits 300 ms, of 8192 bits 5 s and now and then half a minute.
 */
const maxNewModulusLength = 4096
/** The exponents of common RSA keys. A product of small primes can make the search for a key ten times as long. */
const publicExponents = [3, 65537]
/**
 * Rounds of PBKDF2 in all. It makes the iterations once more for each block of output: 0.12 µs a round with SHA-256,
 * 0.3 µs with SHA-512, so at most 3 s. OWASP asks for 600,000.
 */
const maxRounds = 10_000_000
/** Of a key that is made, or of bits that are derived, in bits. */
const maxLengthBits = 65_536

/** Above it an operation has to wait for one of the few turns of slow ones. 20,000 rounds take 2 to 6 ms. */
const quickRounds = 20_000
const quickModulusLength = 4096

type Algorithm = {
  name: string
  hash?: { name: string } | string
  modulusLength?: number
  publicExponent?: Uint8Array
  iterations?: number
  length?: number
}

/** Throws a CryptoCallError where an operation would take too long or too much. Tells whether it is slow. */
export const assertBounded = (operation: Operation, args: unknown[]): { slow: boolean } => {
  switch (operation) {
    case 'generateKey':
      return boundNewKey(args[0] as Algorithm)
    case 'deriveBits':
      return boundDerived(args[0] as Algorithm, Number(args[2]))
    case 'deriveKey':
      return boundDerived(args[0] as Algorithm, (args[2] as Algorithm).length ?? 1024)
    case 'unwrapKey':
      assertAtMost('the bytes of a wrapped key', (args[1] as Uint8Array).byteLength, maxKeyBytes)
      return boundUse(args[2] as webcrypto.CryptoKey)
    case 'sign':
    case 'decrypt':
      return boundUse(args[1] as webcrypto.CryptoKey)
    default:
      return { slow: false }
  }
}

const boundNewKey = ({ name, modulusLength, publicExponent, length }: Algorithm): { slow: boolean } => {
  assertAtMost('length', length ?? 0, maxLengthBits)
  if (!name.startsWith('RSA')) return { slow: false }
  assertAtMost('modulusLength', modulusLength ?? 0, maxNewModulusLength)
  // Without one Node says what is missing.
  if (publicExponent !== undefined && !publicExponents.includes(toNumber(publicExponent))) {
    throw new CryptoCallError('OperationError', '"publicExponent" is 3 or 65537 in a sandbox')
  }
  return { slow: true }
}

const boundDerived = ({ name, hash, iterations = 0 }: Algorithm, lengthBits: number): { slow: boolean } => {
  assertAtMost('length', lengthBits, maxLengthBits)
  if (name !== 'PBKDF2') return { slow: false }
  const blocks = Math.max(1, Math.ceil(lengthBits / blockBits(hash)))
  const rounds = iterations * blocks
  if (rounds > maxRounds) {
    const text = blocks === 1 ? '' : `, and ${blocks} blocks of output multiply them`
    throw new CryptoCallError(
      'OperationError',
      `PBKDF2 makes at most ${maxRounds} iterations in a sandbox${text}`,
    )
  }
  return { slow: rounds > quickRounds }
}

const boundUse = (key: webcrypto.CryptoKey): { slow: boolean } => {
  const { modulusLength = 0 } = key.algorithm as { modulusLength?: number }
  return { slow: key.type === 'private' && modulusLength > quickModulusLength }
}

/** Of what a hash gives; the smallest for one that Node will refuse. */
const blockBits = (hash: Algorithm['hash']): number => {
  const name = typeof hash === 'object' ? hash.name : hash
  return Number(/^SHA-(\d+)$/.exec(name ?? '')?.[1]?.replace(/^1$/, '160') ?? 160)
}

/** Big-endian; any number over what Node takes is the same here. */
const toNumber = (bytes: Uint8Array): number => bytes.reduce((value, byte) => value * 256 + byte, 0)

const assertAtMost = (what: string, value: number, limit: number): void => {
  if (value > limit) throw new CryptoCallError('OperationError', `"${what}" is at most ${limit} in a sandbox`)
}
