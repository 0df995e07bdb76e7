type Kind = 'keys' | 'values' | 'entries'
type Pair = readonly [unknown, unknown]

const iteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object

/**
 * Web IDL, 3.7.10: the iterators of an interface that holds pairs. They are live: a pair that is added on the way is
 * visited. `pairsOf` gives the pairs as they are at that moment.
 */
export const definePairIterators = <T extends object>(
  interfaceName: string,
  pairsOf: (target: T) => readonly Pair[],
): ((target: T, kind: Kind) => never) => {
  class PairIterator {
    readonly #target: T
    readonly #kind: Kind
    #index = 0

    constructor(target: T, kind: Kind) {
      this.#target = target
      this.#kind = kind
    }

    next(): { value: unknown; done: boolean } {
      const pair = pairsOf(this.#target)[this.#index]
      if (pair === undefined) return { value: undefined, done: true }
      this.#index += 1
      const value = this.#kind === 'keys' ? pair[0] : this.#kind === 'values' ? pair[1] : [pair[0], pair[1]]
      return { value, done: false }
    }
  }
  const { prototype } = PairIterator
  Object.setPrototypeOf(prototype, iteratorPrototype)
  Reflect.deleteProperty(prototype, 'constructor')
  Object.defineProperty(prototype, 'next', { enumerable: true })
  Object.defineProperty(prototype, Symbol.toStringTag, {
    value: `${interfaceName} Iterator`,
    configurable: true,
  })
  return (target, kind) => new PairIterator(target, kind) as never
}
