/**
 * The prelude: the web platform of an isolate and its side of the bridge. Evaluated once, into a startup
 * snapshot or in a fresh context; no callback of the process exists then, so everything here only prepares.
 */

import { createBodyStreams } from './bridge/body-streams.ts'
import { bootName, createBoot } from './bridge/boot.ts'
import { createCalls } from './bridge/calls.ts'
import { createDispatcher } from './bridge/dispatch.ts'
import { createEnvironments } from './bridge/environments.ts'
import { createWire } from './bridge/wire.ts'
import { clock } from './clock/clock.ts'
import { installDate } from './clock/date.ts'
import { installDateTimeFormat } from './clock/date-time-format.ts'
import { installGlobals } from './globals.ts'
import { createTimers } from './timers/timers.ts'

const wire = createWire()
const streams = createBodyStreams(wire)
const calls = createCalls(wire, streams)
const timers = createTimers(wire)
const environments = createEnvironments()
const dispatcher = createDispatcher({ wire, calls, streams, environments })

installDate(globalThis, clock)
installDateTimeFormat(clock)
installGlobals(globalThis, { wire, calls, timers })
Object.defineProperty(globalThis, bootName, {
  value: createBoot({ wire, clock, calls, timers, streams, environments, dispatcher }),
  configurable: true,
})
