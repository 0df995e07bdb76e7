import { askOver } from './ask.ts'
import type { Calls } from './bridge/calls.ts'
import type { Wire } from './bridge/wire.ts'
import { createPerformance } from './clock/performance.ts'
import { structuredClone } from './clone/structured-clone.ts'
import { createConsole } from './console/console.ts'
import { showInterface } from './console/platform-fields.ts'
import { createCrypto } from './crypto/crypto.ts'
import { atob, btoa } from './encoding/base64.ts'
import { AbortSignal, createTimeoutSignal } from './events/abort-signal.ts'
import { installGlobalScope } from './events/global-scope.ts'
import { reportException } from './events/report-exception.ts'
import { createFetch } from './fetch/fetch.ts'
import { shapeInterface } from './interface-shape.ts'
import { interfaces } from './interfaces.ts'
import { queueTasksWith } from './messaging/task-queue.ts'
import { createNavigator } from './navigator.ts'
import { NativePromise, reflectApply, whenSettled } from './primordials.ts'
import type { Timers } from './timers/timers.ts'

type Operation = (...given: never[]) => unknown

/** Puts the web platform on the global object of an isolate. */
export const installGlobals = (
  global: typeof globalThis,
  parts: { wire: Wire; calls: Calls; timers: Timers },
): void => {
  const { wire, calls, timers } = parts
  askOver(wire)
  queueTasksWith(timers)
  for (const [name, [made, needs]] of Object.entries(interfaces)) {
    shapeInterface(name, made, needs)
    showInterface(name, made.prototype)
    define(global, name, made, false)
  }
  defineOperation(AbortSignal, 'timeout', createTimeoutSignal(timers.setTimeout), 1)

  // Each with the number of arguments that it needs.
  const operations: Record<string, [operation: Operation, needs: number]> = {
    atob: [atob, 1],
    btoa: [btoa, 1],
    clearInterval: [(id) => timers.clearTimer(id), 0],
    clearTimeout: [(id) => timers.clearTimer(id), 0],
    fetch: [createFetch(calls), 1],
    queueMicrotask: [queueMicrotask, 1],
    reportError: [reportError, 1],
    setInterval: [timers.setInterval, 1],
    setTimeout: [timers.setTimeout, 1],
    structuredClone: [structuredClone, 1],
  }
  for (const [name, [operation, needs]] of Object.entries(operations)) {
    defineOperation(global, name, operation, needs)
  }
  installGlobalScope(global)
  define(global, 'console', createConsole(wire), false)
  define(global, 'crypto', createCrypto(wire, calls), true)
  define(global, 'navigator', createNavigator(), true)
  define(global, 'performance', createPerformance(), true)
  define(global, 'self', global, true)
}

const define = (on: object, name: string, value: unknown, enumerable: boolean): void => {
  Object.defineProperty(on, name, { value, enumerable, writable: true, configurable: true })
}

const defineOperation = (on: object, name: string, operation: Operation, needs: number): void => {
  Object.defineProperty(operation, 'name', { value: name, configurable: true })
  Object.defineProperty(operation, 'length', { value: needs, configurable: true })
  define(on, name, operation, true)
}

const queueMicrotask = (callback: () => void): void => {
  if (typeof callback !== 'function') throw new TypeError('queueMicrotask needs a function')
  const run = () => {
    try {
      reflectApply(callback, undefined, [])
    } catch (thrown) {
      reportException(thrown)
    }
  }
  whenSettled(NativePromise.resolve(), run, run)
}

function reportError(thrown: unknown): void {
  if (arguments.length === 0) throw new TypeError('reportError takes what was thrown')
  reportException(thrown)
}
