import type { Event } from './event.ts'
import { EventTarget } from './event-target.ts'

type Handler = ((event: Event) => unknown) | null
type Slot = { handler: Handler; listener: (event: Event) => void }

/** The effect of a handler's return value on the event. */
type Call = (handler: (...given: never[]) => unknown, event: Event) => void

/** HTML standard, 8.1.8.1: a handler that returns false prevents the default. */
const callHandler: Call = (handler, event) => {
  if (Reflect.apply(handler, event.currentTarget, [event]) === false) event.preventDefault()
}

/**
 * Gives `holder` (a prototype, or the global object) the attribute `on` + type. A handler keeps the position among the
 * listeners that the first one had. `wasSet` hears of each handler that is set.
 */
export const defineEventHandler = (
  holder: object,
  type: string,
  wasSet: (target: never) => void = () => undefined,
  call: Call = callHandler,
): void => {
  const slots = new WeakMap<object, Slot>()
  const methods = EventTarget.prototype
  const here = (target: unknown): object => (target ?? globalThis) as object
  const attribute = {
    get handler(): Handler {
      return slots.get(here(this))?.handler ?? null
    },
    set handler(value: unknown) {
      const target = here(this)
      const handler = isObject(value) ? (value as Handler) : null
      const slot = slots.get(target)
      if (slot !== undefined && handler === null) {
        slots.delete(target)
        methods.removeEventListener.call(target as EventTarget, type, slot.listener)
      } else if (slot !== undefined) slot.handler = handler
      else if (handler !== null) {
        const created: Slot = {
          handler,
          listener: (event) => typeof created.handler === 'function' && call(created.handler, event),
        }
        slots.set(target, created)
        methods.addEventListener.call(target as EventTarget, type, created.listener)
      }
      wasSet(target as never)
    },
  }
  const { get, set } = Object.getOwnPropertyDescriptor(attribute, 'handler') as PropertyDescriptor
  Object.defineProperty(get, 'name', { value: `get on${type}` })
  Object.defineProperty(set, 'name', { value: `set on${type}` })
  Object.defineProperty(holder, `on${type}`, { get, set, enumerable: true, configurable: true })
}

const isObject = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
