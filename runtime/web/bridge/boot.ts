import type { Boot, GuestMessage } from '../../bridge.ts'
import type { Clock } from '../clock/clock.ts'
import { installTemporalNow } from '../clock/temporal.ts'
import { harden } from '../harden.ts'
import { parseJson } from '../primordials.ts'
import type { Timers } from '../timers/timers.ts'
import type { Calls } from './calls.ts'
import { loadDefinition } from './definition.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Wire } from './wire.ts'

export const bootName = '__annexBoot'

/**
 * The boot function of one isolate: connects it with its process, takes itself off the global object and
 * takes away what a script may not have.
 */
export const createBoot =
  (parts: { wire: Wire; clock: Clock; calls: Calls; timers: Timers; dispatcher: Dispatcher }): Boot =>
  (post, ask, allowEval = false) => {
    const { wire, clock, calls, timers, dispatcher } = parts
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
      receive(text, bytes) {
        clock.enter()
        const message = parseJson(text) as GuestMessage
        switch (message.kind) {
          case 'dispatch':
            return dispatcher.run(message.id, message.message, bytes)
          case 'fire':
            return timers.fire(message.id)
          case 'settle':
            return calls.settle(
              message.id,
              message.ok ? { ok: true, value: message.value, bytes } : { ok: false, error: message.error },
            )
        }
      },
    }
  }
