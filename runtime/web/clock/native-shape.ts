import { defineProperty, reflectApply } from '../primordials.ts'

const bind = Function.prototype.bind

/**
 * A function of ours in the place of one of the language: it shows no source, and has the name and length that the
 * language gives it. What it is made of is out of reach.
 */
export const withNativeShape = <T extends (...given: never[]) => unknown>(
  made: T,
  name: string,
  length: number,
): T => {
  const shaped = reflectApply(bind, made, [undefined]) as T
  defineProperty(shaped, 'name', { value: name })
  defineProperty(shaped, 'length', { value: length })
  return shaped
}

/** Puts a value where another one is, and leaves the property as it was otherwise. */
export const replace = (on: object, name: string, value: unknown): void => {
  defineProperty(on, name, { value })
}
