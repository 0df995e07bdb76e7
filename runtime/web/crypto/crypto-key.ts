/** A key as the sandbox process describes it. The key itself stays there. */
export type KeyDescription = {
  id: number
  type: string
  extractable: boolean
  algorithm: { name: string; publicExponent?: number[]; [field: string]: unknown }
  usages: string[]
}

const made = Symbol('made by the prelude')
let idOf: (key: CryptoKey) => number
let create: (description: KeyDescription) => CryptoKey
let isKey: (value: unknown) => value is CryptoKey

/** Web Crypto, 13. */
export class CryptoKey {
  #id = 0
  #description: Omit<KeyDescription, 'id' | 'algorithm'> = { type: 'secret', extractable: false, usages: [] }
  #algorithm: object = {}

  static {
    idOf = (key) => key.#id
    isKey = (value): value is CryptoKey => typeof value === 'object' && value !== null && #id in value
    create = ({ id, algorithm, ...description }) => {
      const key = new CryptoKey(made)
      key.#id = id
      key.#description = description
      const { publicExponent } = algorithm
      key.#algorithm =
        publicExponent === undefined
          ? algorithm
          : { ...algorithm, publicExponent: new Uint8Array(publicExponent) }
      return key
    }
  }

  constructor(key?: unknown) {
    if (key !== made) throw new TypeError('Illegal constructor: a CryptoKey comes from crypto.subtle')
  }

  get type(): string {
    return this.#description.type
  }
  get extractable(): boolean {
    return this.#description.extractable
  }
  get algorithm(): object {
    return this.#algorithm
  }
  get usages(): string[] {
    return this.#description.usages
  }
}

export const isCryptoKey = (value: unknown): value is CryptoKey => isKey(value)
export const cryptoKeyId = (key: CryptoKey): number => idOf(key)
export const createCryptoKey = (description: KeyDescription): CryptoKey => create(description)
