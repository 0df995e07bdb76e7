import type { Boot } from '../../bridge.ts'
import { message } from '../../wire-kinds.ts'
import type { Clock } from '../clock/clock.ts'
import { installTemporalNow } from '../clock/temporal.ts'
import { harden } from '../harden.ts'
import type { Timers } from '../timers/timers.ts'
import type { BodyStreams } from './body-streams.ts'
import type { Calls } from './calls.ts'
import { loadDefinition } from './definition.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Environments } from './environments.ts'
import type { Wire } from './wire.ts'

export const bootName = '__annexBoot'

/** The kinds of messages. */
export type BootParts = {
  wire: Wire
  clock: Clock
  calls: Calls
  timers: Timers
  streams: BodyStreams
  environments: Environments
  dispatcher: Dispatcher
}

/**
 * The boot function of one isolate: connects it with its process, takes itself off the global object and
 * takes away what a script may not have.
 */
export const createBoot =
  ({ wire, clock, calls, timers, streams, environments, dispatcher }: BootParts): Boot =>
  (post, ask, allowEval = false) => {
    Reflect.deleteProperty(globalThis, bootName)
    harden(globalThis, { allowEval })
    installTemporalNow(globalThis, clock)
    wire.connect(post, ask)
    clock.enter()
    let isDefined = false
    return {
      define(bundle) {
        // A script could keep the function and call it again.
        if (isDefined) return
        isDefined = true
        clock.enter()
        dispatcher.use(loadDefinition(bundle))
      },
      receive(kind, id, number, text = '', body) {
        clock.enter()
        switch (kind) {
          case message.dispatch:
            return dispatcher.run(id, number, text, body)
          case message.dispatchWithStream:
            return dispatcher.run(id, number, text, streams.receive(id, 0))
          case message.environment:
            return environments.set(id, text)
          case message.settle:
            return calls.settle(id, text, body, number === 1)
          case message.reject:
            return calls.reject(id, text)
          case message.fire:
            return timers.fire(id)
          case message.chunk:
            return streams.chunk(id, number, body)
          case message.end:
            return streams.end(id, number)
          case message.fail:
            return streams.fail(id, number, text)
          case message.pull:
            return streams.pull(id, number)
          case message.cancel:
            return streams.cancel(id, number)
          case message.leave:
            return dispatcher.leave(id)
        }
      },
    }
  }
