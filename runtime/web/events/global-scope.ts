import { ErrorEvent } from './error-event.ts'
import type { Event } from './event.ts'
import { defineEventHandler } from './event-handler.ts'
import { EventTarget, fire } from './event-target.ts'
import { reportErrorsTo } from './report-exception.ts'

/** Makes the global object a target of events: of `error`, for uncaught exceptions. */
export const installGlobalScope = (global: object): void => {
  const { addEventListener, removeEventListener, dispatchEvent } = EventTarget.prototype
  for (const [name, value] of Object.entries({ addEventListener, removeEventListener, dispatchEvent })) {
    Object.defineProperty(global, name, { value, enumerable: true, writable: true, configurable: true })
  }
  defineEventHandler(global, 'error', undefined, callErrorHandler)
  defineEventHandler(global, 'unhandledrejection')
  defineEventHandler(global, 'rejectionhandled')
  reportErrorsTo((reported) => fire(undefined, new ErrorEvent('error', { ...reported, cancelable: true })))
}

/** `onerror` of the global object takes the parts of the event, and prevents the default by returning true. */
const callErrorHandler = (handler: (...given: never[]) => unknown, event: Event): void => {
  const given =
    event instanceof ErrorEvent
      ? [event.message, event.filename, event.lineno, event.colno, event.error]
      : [event]
  if (Reflect.apply(handler, globalThis, given) === true) event.preventDefault()
}
