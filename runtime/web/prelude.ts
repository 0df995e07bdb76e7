/**
 * The prelude: the web platform of an isolate and its side of the bridge. Evaluated once, into a startup
 * snapshot or in a fresh context; no callback of the process exists then, so everything here only prepares.
 */
import { bootName, createBoot } from './bridge/boot.ts'
import { createCalls } from './bridge/calls.ts'
import { createDispatcher } from './bridge/dispatch.ts'
import { createWire } from './bridge/wire.ts'
import { createClock } from './clock/clock.ts'
import { installDate } from './clock/date.ts'
import { installDateTimeFormat } from './clock/date-time-format.ts'
import { installGlobals } from './globals.ts'
import { createTimers } from './timers/timers.ts'

const clock = createClock()
const wire = createWire()
const calls = createCalls(wire)
const timers = createTimers(wire)
const dispatcher = createDispatcher(wire, calls)

installDate(globalThis, clock)
installDateTimeFormat(clock)
installGlobals(globalThis, { wire, clock, calls, timers })
Object.defineProperty(globalThis, bootName, {
  value: createBoot({ wire, clock, calls, timers, dispatcher }),
  configurable: true,
})
