import { Event, type EventInit, eventFlight, toDictionary } from '../events/event.ts'
import { isMessagePort, type MessagePort } from './message-port.ts'

type MessageEventInit = EventInit & {
  data?: unknown
  origin?: string
  lastEventId?: string
  source?: object | null
  ports?: Iterable<object>
}

/** HTML standard, 9.1. */
export class MessageEvent extends Event {
  #data: unknown
  #origin: string
  #lastEventId: string
  #source: object | null
  #ports: readonly MessagePort[]

  constructor(type: string, init: MessageEventInit | null = {}) {
    if (arguments.length === 0) throw new TypeError('An event needs a type')
    super(type, init)
    const { data = null, lastEventId = '', origin = '', ports = [], source = null } = toDictionary(init)
    this.#data = data
    this.#lastEventId = `${lastEventId}`
    this.#origin = `${origin}`.toWellFormed()
    this.#ports = toPorts(ports)
    this.#source = toSource(source)
  }

  get data(): unknown {
    return this.#data
  }
  get origin(): string {
    return this.#origin
  }
  get lastEventId(): string {
    return this.#lastEventId
  }
  get source(): object | null {
    return this.#source
  }
  get ports(): readonly MessagePort[] {
    return this.#ports
  }

  initMessageEvent(
    type: string,
    bubbles: unknown = false,
    cancelable: unknown = false,
    data: unknown = null,
    origin = '',
    lastEventId = '',
    source: object | null = null,
    ports: Iterable<object> = [],
  ): void {
    if (arguments.length === 0) throw new TypeError('An event needs a type')
    if (eventFlight(this).dispatching) return
    this.initEvent(type, bubbles, cancelable)
    this.#data = data
    this.#origin = `${origin}`.toWellFormed()
    this.#lastEventId = `${lastEventId}`
    this.#source = toSource(source)
    this.#ports = toPorts(ports)
  }
}

const toPorts = (ports: Iterable<object>): readonly MessagePort[] => {
  const list = [...ports]
  if (!list.every(isMessagePort)) throw new TypeError('The ports of a message are MessagePorts')
  return Object.freeze(list)
}

const toSource = (source: unknown): object | null => {
  if (source === null || isMessagePort(source)) return source
  throw new TypeError('The source of a message is a MessagePort, or nothing')
}
