import { DOMException } from './events/dom-exception.ts'
import { EventTarget } from './events/event-target.ts'

/** Packages look for the name when they load, long before they connect. */
export class WebSocket extends EventTarget {
  constructor() {
    super()
    throw new DOMException(
      'A sandbox opens no WebSocket: a script reaches other servers with fetch; a stream of events can be read from the body of its answer',
      'NotSupportedError',
    )
  }
}

for (const [value, name] of ['CONNECTING', 'OPEN', 'CLOSING', 'CLOSED'].entries()) {
  for (const on of [WebSocket, WebSocket.prototype])
    Object.defineProperty(on, name, { value, enumerable: true })
}
