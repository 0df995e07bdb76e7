import type { Calls } from '../bridge/calls.ts'
import type { Wire } from '../bridge/wire.ts'
import { createGetRandomValues, createRandomUuid } from './random.ts'
import { createSubtleCrypto, type SubtleCrypto } from './subtle-crypto.ts'

type Parts = {
  subtle: SubtleCrypto
  getRandomValues: ReturnType<typeof createGetRandomValues>
  randomUUID: ReturnType<typeof createRandomUuid>
}

let made: Parts | undefined

/** Web Crypto, 10. */
export class Crypto {
  readonly #parts: Parts

  constructor() {
    if (made === undefined) throw new TypeError('Illegal constructor: use the global crypto')
    this.#parts = made
  }

  get subtle(): SubtleCrypto {
    return this.#parts.subtle
  }
  getRandomValues<T>(array: T): T {
    return this.#parts.getRandomValues(array)
  }
  randomUUID(): string {
    return this.#parts.randomUUID()
  }
}

/** The global `crypto` of an isolate. */
export const createCrypto = (wire: Wire, calls: Calls): Crypto => {
  made = {
    subtle: createSubtleCrypto(calls),
    getRandomValues: createGetRandomValues(wire),
    randomUUID: createRandomUuid(wire),
  }
  try {
    return new Crypto()
  } finally {
    made = undefined
  }
}
