import type { Calls } from '../bridge/calls.ts'
import type { Wire } from '../bridge/wire.ts'
import { createGetRandomValues, createRandomUuid } from './random.ts'
import { createSubtleCrypto, type SubtleCrypto } from './subtle-crypto.ts'

type Parts = {
  subtle: SubtleCrypto
  getRandomValues: ReturnType<typeof createGetRandomValues>
  randomUUID: ReturnType<typeof createRandomUuid>
}

const made = Symbol('made by the prelude')
let create: (parts: Parts) => Crypto

/** Web Crypto, 10. */
export class Crypto {
  #parts: Parts | undefined

  static {
    create = (parts) => {
      const crypto = new Crypto(made)
      crypto.#parts = parts
      return crypto
    }
  }

  constructor(key?: unknown) {
    if (key !== made) throw new TypeError('Illegal constructor: use the global crypto')
  }

  get subtle(): SubtleCrypto {
    return this.#own().subtle
  }
  getRandomValues<T>(array: T): T {
    return this.#own().getRandomValues(array)
  }
  randomUUID(): string {
    return this.#own().randomUUID()
  }

  #own(): Parts {
    if (this.#parts === undefined) throw new TypeError('Illegal invocation')
    return this.#parts
  }
}

/** The global `crypto` of an isolate. */
export const createCrypto = (wire: Wire, calls: Calls): Crypto =>
  create({
    subtle: createSubtleCrypto(calls),
    getRandomValues: createGetRandomValues(wire),
    randomUUID: createRandomUuid(wire),
  })
