/** Web IDL: conversions and checks that several interfaces share. */

/** Throws the TypeError that an operation throws when it is called with too few arguments. */
export const requireArguments = (given: number, needed: number, operation: string): void => {
  if (given < needed) {
    throw new TypeError(`${operation} needs ${needed} argument${needed === 1 ? '' : 's'}, got ${given}`)
  }
}

/** A value as a dictionary: an object (a function too), or nothing. */
export const toDictionary = <T extends object>(value: T | null | undefined, what: string): T | undefined => {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'object' || typeof value === 'function') return value
  throw new TypeError(`${what} is an object, not ${typeof value === 'string' ? 'a string' : String(value)}`)
}

/** One of the words of an enumeration; a TypeError names what there is. */
export const toWord = <T extends string>(value: unknown, words: readonly T[], what: string): T => {
  const text = `${value}` as T
  if (words.includes(text)) return text
  throw new TypeError(
    `${what} is one of ${words.map((word) => `"${word}"`).join(', ')}, not ${JSON.stringify(text)}`,
  )
}

/** [Clamp] long long: rounded half to even, and kept within what a double holds exactly. */
export const toClampedInteger = (value: unknown): number => {
  const number = Math.min(Math.max(Number(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
  if (Number.isNaN(number)) return 0
  const floor = Math.floor(number)
  const rest = number - floor
  if (rest < 0.5) return floor
  return rest > 0.5 || floor % 2 !== 0 ? floor + 1 : floor
}

/** long long: truncated, and wrapped at 2^64. */
export const toInteger = (value: unknown): number => {
  const number = Math.trunc(Number(value))
  if (!Number.isFinite(number)) return 0
  return Number.isSafeInteger(number) ? number + 0 : Number(BigInt.asIntN(64, BigInt(number)))
}

/** unsigned short. */
export const toUnsignedShort = (value: unknown): number => {
  const number = Math.trunc(Number(value))
  return Number.isFinite(number) ? ((number % 65_536) + 65_536) % 65_536 : 0
}

/** A list by the iterator method that was found on it: Web IDL asks for that property once. */
export const iterateBy = <T>(method: unknown, list: object): Iterable<T> => {
  if (typeof method !== 'function') throw new TypeError('Symbol.iterator of a list is a function')
  return { [Symbol.iterator]: () => Reflect.apply(method, list, []) as Iterator<T> }
}
