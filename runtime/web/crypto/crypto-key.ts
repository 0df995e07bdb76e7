import { defineSerializable } from '../clone/platform-objects.ts'
import { structuredClone } from '../clone/structured-clone.ts'

/** A key as the sandbox process describes it. The key itself stays there. */
export type KeyDescription = {
  id: number
  type: string
  extractable: boolean
  algorithm: { name: string; publicExponent?: number[]; [field: string]: unknown }
  usages: string[]
}

/** The internal slots of a key: a copy of the object shares them. */
export type KeySlots = Omit<KeyDescription, 'algorithm'> & { algorithm: object }

let made: KeySlots | undefined
let slotsOf: (key: CryptoKey) => KeySlots
let isKey: (value: unknown) => value is CryptoKey

/** Web Crypto, 13. A script that changes `algorithm` or `usages` changes what it sees, not what the key may do. */
export class CryptoKey {
  readonly #slots: KeySlots
  #algorithm: object | undefined
  #usages: string[] | undefined

  static {
    slotsOf = (key) => key.#slots
    isKey = (value): value is CryptoKey => typeof value === 'object' && value !== null && #slots in value
  }

  constructor() {
    if (made === undefined) throw new TypeError('Illegal constructor: a CryptoKey comes from crypto.subtle')
    this.#slots = made
  }

  get type(): string {
    return this.#slots.type
  }
  get extractable(): boolean {
    return this.#slots.extractable
  }
  get algorithm(): object {
    this.#algorithm ??= structuredClone(this.#slots.algorithm) as object
    return this.#algorithm
  }
  get usages(): string[] {
    this.#usages ??= structuredClone(this.#slots.usages) as string[]
    return this.#usages
  }
}

export const isCryptoKey = (value: unknown): value is CryptoKey => isKey(value)
export const cryptoKeyId = (key: CryptoKey): number => slotsOf(key).id

/** The object of a key. */
export const createCryptoKey = (slots: KeySlots): CryptoKey => {
  made = slots
  try {
    return new CryptoKey()
  } finally {
    made = undefined
  }
}

/** Web Crypto, 13.5. The bytes stay in the sandbox process, until no object of the key is left. */
defineSerializable({ owns: isKey, copy: (key) => createCryptoKey(slotsOf(key as CryptoKey)) })

export const createKeySlots = ({ algorithm, ...description }: KeyDescription): KeySlots => {
  const { publicExponent } = algorithm
  if (publicExponent === undefined) return { ...description, algorithm }
  return { ...description, algorithm: { ...algorithm, publicExponent: new Uint8Array(publicExponent) } }
}
