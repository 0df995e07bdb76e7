import type { Calls, Settled } from '../bridge/calls.ts'
import { DOMException } from '../events/dom-exception.ts'
import { NativePromise } from '../primordials.ts'
import { type CryptoKey, createCryptoKey, createKeySlots, type KeyDescription } from './crypto-key.ts'
import { createKeyGarbage } from './key-garbage.ts'
import { type SubtleOperation, writeCall } from './subtle-calls.ts'

type Algorithm = string | { name: string; [member: string]: unknown }
type KeyPair = { publicKey: CryptoKey; privateKey: CryptoKey }
type Parts = {
  ask: (operation: SubtleOperation, given: readonly unknown[]) => Promise<Settled>
  toKey: (description: unknown) => CryptoKey
}

let made: Parts | undefined

/**
 * Web Crypto, 14: each method is a call that the sandbox process serves with Node's own webcrypto. What goes wrong is
 * thrown after the `await`, where V8 knows the author's line that waits for it.
 */
export class SubtleCrypto {
  readonly #parts: Parts

  constructor() {
    if (made === undefined) throw new TypeError('Illegal constructor: use crypto.subtle')
    this.#parts = made
  }

  async encrypt(algorithm: Algorithm, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer> {
    return bytesOf(await this.#parts.ask('encrypt', [algorithm, key, data]))
  }
  async decrypt(algorithm: Algorithm, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer> {
    return bytesOf(await this.#parts.ask('decrypt', [algorithm, key, data]))
  }
  async sign(algorithm: Algorithm, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer> {
    return bytesOf(await this.#parts.ask('sign', [algorithm, key, data]))
  }
  async verify(
    algorithm: Algorithm,
    key: CryptoKey,
    signature: BufferSource,
    data: BufferSource,
  ): Promise<boolean> {
    return valueIn(await this.#parts.ask('verify', [algorithm, key, signature, data])) === true
  }
  async digest(algorithm: Algorithm, data: BufferSource): Promise<ArrayBuffer> {
    return bytesOf(await this.#parts.ask('digest', [algorithm, data]))
  }
  async generateKey(
    algorithm: Algorithm,
    extractable: boolean,
    keyUsages: string[],
  ): Promise<CryptoKey | KeyPair> {
    const { ask, toKey } = this.#parts
    const value = valueIn(await ask('generateKey', [algorithm, extractable, keyUsages]))
    const { publicKey, privateKey } = value as { publicKey?: unknown; privateKey?: unknown }
    if (publicKey === undefined) return toKey(value)
    return { publicKey: toKey(publicKey), privateKey: toKey(privateKey) }
  }
  async deriveKey(
    algorithm: Algorithm,
    baseKey: CryptoKey,
    derivedKeyType: Algorithm,
    extractable: boolean,
    keyUsages: string[],
  ): Promise<CryptoKey> {
    const { ask, toKey } = this.#parts
    return toKey(
      valueIn(await ask('deriveKey', [algorithm, baseKey, derivedKeyType, extractable, keyUsages])),
    )
  }
  async deriveBits(
    algorithm: Algorithm,
    baseKey: CryptoKey,
    length: number | null = null,
  ): Promise<ArrayBuffer> {
    return bytesOf(await this.#parts.ask('deriveBits', [algorithm, baseKey, length]))
  }
  async importKey(
    format: string,
    keyData: BufferSource | object,
    algorithm: Algorithm,
    extractable: boolean,
    keyUsages: string[],
  ): Promise<CryptoKey> {
    const { ask, toKey } = this.#parts
    return toKey(valueIn(await ask('importKey', [format, keyData, algorithm, extractable, keyUsages])))
  }
  async exportKey(format: string, key: CryptoKey): Promise<ArrayBuffer | object> {
    const settled = await this.#parts.ask('exportKey', [format, key])
    return (valueIn(settled) as object | null) ?? bytesOf(settled)
  }
  async wrapKey(
    format: string,
    key: CryptoKey,
    wrappingKey: CryptoKey,
    wrapAlgorithm: Algorithm,
  ): Promise<ArrayBuffer> {
    if (wrapAlgorithm === undefined) throw new TypeError('wrapKey needs an algorithm')
    return bytesOf(await this.#parts.ask('wrapKey', [format, key, wrappingKey, wrapAlgorithm]))
  }
  async unwrapKey(
    format: string,
    wrappedKey: BufferSource,
    unwrappingKey: CryptoKey,
    unwrapAlgorithm: Algorithm,
    unwrappedKeyAlgorithm: Algorithm,
    extractable: boolean,
    keyUsages: string[],
  ): Promise<CryptoKey> {
    const { ask, toKey } = this.#parts
    const keys = [format, wrappedKey, unwrappingKey]
    const given = [...keys, unwrapAlgorithm, unwrappedKeyAlgorithm, extractable, keyUsages]
    return toKey(valueIn(await ask('unwrapKey', given)))
  }
}

/** `crypto.subtle` over the calls of an isolate. */
export const createSubtleCrypto = (calls: Calls): SubtleCrypto => {
  const garbage = createKeyGarbage(calls)
  made = {
    ask: (operation, given) => {
      const { text, bytes } = writeCall(operation, given)
      return new NativePromise((resolve) => {
        calls.start(`crypto.${operation}`, text, bytes, resolve)
      })
    },
    toKey: (description) => {
      const slots = createKeySlots(description as KeyDescription)
      garbage.watch(slots)
      return createCryptoKey(slots)
    },
  }
  try {
    return new SubtleCrypto()
  } finally {
    made = undefined
  }
}

const valueIn = (settled: Settled): unknown => {
  if (settled.ok) return settled.value
  const { name, message } = settled.error
  throw name === 'TypeError' ? new TypeError(message) : new DOMException(message, name)
}

const bytesOf = (settled: Settled): ArrayBuffer => {
  valueIn(settled)
  return (settled.ok ? (settled.body as ArrayBuffer | undefined) : undefined) ?? new ArrayBuffer(0)
}
