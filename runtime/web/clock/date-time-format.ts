import { defineProperty, getOwnPropertyDescriptor, reflectApply } from '../primordials.ts'
import type { Clock } from './clock.ts'
import { replace, withNativeShape } from './native-shape.ts'

type Format = (date?: unknown) => string

const { get: weakGet, set: weakSet } = WeakMap.prototype

/** ECMA-402, 11: a formatter that is given no date takes that of the system; here it takes this clock's. */
export const installDateTimeFormat = (clock: Clock): void => {
  const { prototype } = Intl.DateTimeFormat
  const nativeFormat = getOwnPropertyDescriptor(prototype, 'format')?.get
  const nativeParts = prototype.formatToParts
  if (nativeFormat === undefined) return
  const dateOf = (date: unknown): unknown => (date === undefined ? clock.now() : date)
  // A formatter has one `format`, however often it is asked for.
  const formats = new WeakMap<Format, Format>()
  const shaped = {
    get format(): Format {
      const native = reflectApply(nativeFormat, this, []) as Format
      const known = reflectApply(weakGet, formats, [native]) as Format | undefined
      if (known !== undefined) return known
      const made = withNativeShape<Format>((date) => native(dateOf(date)), '', 1)
      reflectApply(weakSet, formats, [native, made])
      return made
    },
    formatToParts(date: unknown): unknown {
      return reflectApply(nativeParts, this, [dateOf(date)])
    },
  }
  // These two need the `this` that they are called with, so they are not bound.
  const getter = getOwnPropertyDescriptor(shaped, 'format')?.get
  defineProperty(prototype, 'format', { get: getter, set: undefined })
  replace(prototype, 'formatToParts', shaped.formatToParts)
}
