import { Event } from '../events/event.ts'
import { fire } from '../events/event-target.ts'
import { MessageEvent } from './message-event.ts'
import { createPorts, fireMessagesWith, type MessagePort } from './message-port.ts'

/** HTML standard, 9.4.3. */
export class MessageChannel {
  readonly #ports = createPorts()

  get port1(): MessagePort {
    return this.#ports[0]
  }
  get port2(): MessagePort {
    return this.#ports[1]
  }
}

fireMessagesWith((port, type, message) =>
  fire(port, type === 'message' ? new MessageEvent('message', message) : new Event('close')),
)
