import type { Calls } from '../bridge/calls.ts'
import { DOMException } from '../events/dom-exception.ts'
import { type CryptoKey, createCryptoKey, type KeyDescription } from './crypto-key.ts'
import { writeArguments } from './write-arguments.ts'

type Algorithm = string | { name: string; [member: string]: unknown }
type KeyPair = { publicKey: CryptoKey; privateKey: CryptoKey }
type Ask = (operation: string, args: unknown[]) => Promise<{ value: unknown; bytes: ArrayBuffer | undefined }>

let create: (ask: Ask) => SubtleCrypto
const made = Symbol('made by the prelude')

/** Web Crypto, 14: each method is a call that the sandbox process serves with Node's own webcrypto. */
export class SubtleCrypto {
  #ask: Ask

  static {
    create = (ask) => {
      const subtle = new SubtleCrypto(made)
      subtle.#ask = ask
      return subtle
    }
  }

  constructor(key?: unknown) {
    if (key !== made) throw new TypeError('Illegal constructor: use crypto.subtle')
    this.#ask = () => Promise.reject(new TypeError('Not connected'))
  }

  digest(algorithm: Algorithm, data: BufferSource): Promise<ArrayBuffer> {
    return this.#bytes('digest', [algorithm, data])
  }
  encrypt(algorithm: Algorithm, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer> {
    return this.#bytes('encrypt', [algorithm, key, data])
  }
  decrypt(algorithm: Algorithm, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer> {
    return this.#bytes('decrypt', [algorithm, key, data])
  }
  sign(algorithm: Algorithm, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer> {
    return this.#bytes('sign', [algorithm, key, data])
  }
  async verify(
    algorithm: Algorithm,
    key: CryptoKey,
    signature: BufferSource,
    data: BufferSource,
  ): Promise<boolean> {
    return (await this.#ask('verify', [algorithm, key, signature, data])).value === true
  }
  async generateKey(
    algorithm: Algorithm,
    extractable: boolean,
    usages: string[],
  ): Promise<CryptoKey | KeyPair> {
    const { value } = await this.#ask('generateKey', [algorithm, Boolean(extractable), [...usages]])
    const pair = value as { publicKey: KeyDescription; privateKey: KeyDescription }
    if (pair.publicKey === undefined) return createCryptoKey(value as KeyDescription)
    return { publicKey: createCryptoKey(pair.publicKey), privateKey: createCryptoKey(pair.privateKey) }
  }
  importKey(
    format: string,
    keyData: BufferSource | object,
    algorithm: Algorithm,
    extractable: boolean,
    usages: string[],
  ): Promise<CryptoKey> {
    return this.#key('importKey', [format, keyData, algorithm, Boolean(extractable), [...usages]])
  }
  async exportKey(format: string, key: CryptoKey): Promise<ArrayBuffer | object> {
    const { value, bytes } = await this.#ask('exportKey', [format, key])
    return bytes ?? (value as object)
  }
  deriveBits(algorithm: Algorithm, baseKey: CryptoKey, length?: number | null): Promise<ArrayBuffer> {
    return this.#bytes('deriveBits', [algorithm, baseKey, length ?? null])
  }
  deriveKey(
    algorithm: Algorithm,
    baseKey: CryptoKey,
    derivedKeyType: Algorithm,
    extractable: boolean,
    usages: string[],
  ): Promise<CryptoKey> {
    const args = [algorithm, baseKey, derivedKeyType, Boolean(extractable), [...usages]]
    return this.#key('deriveKey', args)
  }
  wrapKey(
    format: string,
    key: CryptoKey,
    wrappingKey: CryptoKey,
    wrapAlgorithm: Algorithm,
  ): Promise<ArrayBuffer> {
    return this.#bytes('wrapKey', [format, key, wrappingKey, wrapAlgorithm])
  }
  unwrapKey(
    format: string,
    wrappedKey: BufferSource,
    unwrappingKey: CryptoKey,
    unwrapAlgorithm: Algorithm,
    unwrappedKeyAlgorithm: Algorithm,
    extractable: boolean,
    usages: string[],
  ): Promise<CryptoKey> {
    const algorithms = [unwrapAlgorithm, unwrappedKeyAlgorithm]
    const args = [format, wrappedKey, unwrappingKey, ...algorithms, Boolean(extractable), [...usages]]
    return this.#key('unwrapKey', args)
  }

  async #bytes(operation: string, args: unknown[]): Promise<ArrayBuffer> {
    const { bytes } = await this.#ask(operation, args)
    return bytes ?? new ArrayBuffer(0)
  }

  async #key(operation: string, args: unknown[]): Promise<CryptoKey> {
    return createCryptoKey((await this.#ask(operation, args)).value as KeyDescription)
  }
}

/** `crypto.subtle` over the calls of an isolate. */
export const createSubtleCrypto = (calls: Calls): SubtleCrypto =>
  create(
    (operation, args) =>
      new Promise((resolve, reject) => {
        const { text, bytes } = writeArguments(args)
        calls.start(`crypto.${operation}`, text, bytes, (settled) => {
          if (settled.ok) resolve({ value: settled.value, bytes: settled.body as ArrayBuffer | undefined })
          else reject(toError(settled.error))
        })
      }),
  )

const toError = ({ name, message }: { name: string; message: string }): Error =>
  name === 'TypeError' ? new TypeError(message) : new DOMException(message, name)
