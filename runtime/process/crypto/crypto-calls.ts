import { webcrypto } from 'node:crypto'
import { CryptoCallError } from './crypto-error.ts'
import { createKeyTable, type KeyTable } from './crypto-keys.ts'
import { readParameters } from './crypto-parameters.ts'

export type CryptoAnswer = { value: unknown; bytes?: ArrayBuffer }
export type CryptoCalls = (name: string, args: unknown, bytes?: ArrayBuffer) => Promise<CryptoAnswer>

/** Operations at work at once for one isolate. They run on Node's thread pool, which all isolates share. */
const maxOperations = 16

/** Each operation of `crypto.subtle`: how many arguments it has, and how its result crosses the wall. */
const operations = {
  digest: { length: 2, answer: 'bytes' },
  encrypt: { length: 3, answer: 'bytes' },
  decrypt: { length: 3, answer: 'bytes' },
  sign: { length: 3, answer: 'bytes' },
  verify: { length: 4, answer: 'value' },
  generateKey: { length: 3, answer: 'key' },
  importKey: { length: 5, answer: 'key' },
  exportKey: { length: 2, answer: 'bytes' },
  deriveBits: { length: 3, answer: 'bytes' },
  deriveKey: { length: 5, answer: 'key' },
  wrapKey: { length: 4, answer: 'bytes' },
  unwrapKey: { length: 7, answer: 'key' },
} as const

type Operation = keyof typeof operations

/**
 * The calls named `crypto.*` of one isolate, served by Node's webcrypto. Keys stay here; the guest knows them
 * by id. Rejects with an error that has a name of Web Crypto and a message, and nothing of this process.
 */
export const createCryptoCalls = (): CryptoCalls => {
  const keys = createKeyTable()
  let running = 0
  return async (name, args, bytes) => {
    if (running >= maxOperations) {
      throw new CryptoCallError(
        'OperationError',
        `More than ${maxOperations} operations of crypto.subtle at once`,
      )
    }
    running += 1
    try {
      return await run(toOperation(name), args, bytes, keys)
    } catch (error) {
      throw toCryptoError(error)
    } finally {
      running -= 1
    }
  }
}

const run = async (
  operation: Operation,
  args: unknown,
  bytes: ArrayBuffer | undefined,
  keys: KeyTable,
): Promise<CryptoAnswer> => {
  const { length, answer } = operations[operation]
  const parameters = readParameters(args, bytes, keys)
  if (parameters.length !== length)
    throw new CryptoCallError('TypeError', `${operation} takes ${length} arguments`)
  const method = webcrypto.subtle[operation] as (...given: unknown[]) => Promise<unknown>
  const result = await method.apply(webcrypto.subtle, parameters)
  if (answer === 'key') return { value: keys.describe(result) }
  if (result instanceof ArrayBuffer) return { value: null, bytes: result }
  return { value: result }
}

const toOperation = (name: string): Operation => {
  const operation = name.replace(/^crypto\./, '')
  if (Object.hasOwn(operations, operation)) return operation as Operation
  throw new CryptoCallError('NotSupportedError', 'crypto.subtle has no such operation')
}

/** Node's own errors have codes and causes of their own; the guest gets a name and a text. */
const toCryptoError = (error: unknown): Error => {
  if (error instanceof CryptoCallError) return error
  if (error instanceof TypeError) return new CryptoCallError('TypeError', error.message)
  if (error instanceof DOMException) return new CryptoCallError(error.name, error.message)
  return new CryptoCallError('OperationError', 'The operation failed')
}
