import { defineProperty, reflectApply } from '../primordials.ts'
import type { Clock } from './clock.ts'
import { replace, withNativeShape } from './native-shape.ts'

type AnyFunction = (...given: never[]) => unknown

const NativeDate = Date
const { construct } = Reflect
const dateToText = Date.prototype.toString

/** ECMA-262, 21.4.2, with this clock where the language asks the system for the time. Nothing else is changed. */
export const installDate = (global: typeof globalThis, clock: Clock): void => {
  function ClockDate(...given: unknown[]): unknown {
    // Called as a function it is the text of now, whatever it is given.
    if (new.target === undefined) return reflectApply(dateToText, construct(NativeDate, [clock.now()]), [])
    return construct(NativeDate, given.length === 0 ? [clock.now()] : given, new.target)
  }
  // `new Date()` has this function for its target, and not the bound one.
  ClockDate.prototype = NativeDate.prototype
  const shaped = withNativeShape(ClockDate as AnyFunction, 'Date', 7)
  defineProperty(shaped, 'prototype', { value: NativeDate.prototype })
  const own = { now: withNativeShape(() => clock.now(), 'now', 0), parse: Date.parse, UTC: Date.UTC }
  for (const [name, value] of Object.entries(own)) {
    defineProperty(shaped, name, { value, writable: true, configurable: true })
  }
  replace(NativeDate.prototype, 'constructor', shaped)
  replace(global, 'Date', shaped)
}
