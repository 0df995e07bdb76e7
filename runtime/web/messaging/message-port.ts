import { defineTransferable, uncloneable } from '../clone/platform-objects.ts'
import { cloneWithTransfer, transferListOf } from '../clone/structured-clone.ts'
import { defineEventHandler } from '../events/event-handler.ts'
import { EventTarget } from '../events/event-target.ts'
import { queueTask } from './task-queue.ts'

export type Message = { data: unknown; ports: MessagePort[] }

/** One end of a channel. It moves from one port to another when that port is transferred. */
type End = {
  owner: MessagePort | undefined
  other: End | undefined
  started: boolean
  waiting: Message[]
}

const made = Symbol('made by a channel')

let endOf: (port: MessagePort) => End | undefined
let take: (port: MessagePort) => End | undefined
let isPort: (value: unknown) => value is MessagePort

/** Fires what arrives at a port. Set by message-channel.ts, as events of messages know what a port is. */
let fireAt: (port: MessagePort, type: 'message' | 'close', message?: Message) => void = () => undefined

/** HTML standard, 9.4.4. */
export class MessagePort extends EventTarget {
  #end: End | undefined

  static {
    endOf = (port) => port.#end
    take = (port) => {
      const end = port.#end
      port.#end = undefined
      return end
    }
    isPort = (value): value is MessagePort => typeof value === 'object' && value !== null && #end in value
  }

  constructor(key: unknown = undefined, end: End | undefined = undefined) {
    super()
    if (key !== made) throw new TypeError('Illegal constructor: a MessagePort comes from a MessageChannel')
    this.#end = end
    if (end !== undefined) end.owner = this
  }

  postMessage(
    message: unknown,
    options: Iterable<unknown> | { transfer?: Iterable<unknown> } | null = {},
  ): void {
    const end = this.#end
    if (arguments.length === 0) throw new TypeError('postMessage takes a message')
    const transfer = transferListOf(toOptions(options))
    if (transfer.includes(this)) throw uncloneable('A port cannot be sent through itself')
    const other = end?.other
    // Sent to its own other end the port, and the message with it, is lost.
    const isDoomed = transfer.some((item) => isPort(item) && other !== undefined && endOf(item) === other)
    const { value, moved } = cloneWithTransfer(message, transfer)
    if (other === undefined || isDoomed) return
    other.waiting.push({ data: value, ports: moved.filter(isMessagePort) })
    if (other.started) queueTask(() => deliver(other))
  }

  start(): void {
    const end = this.#end
    if (end === undefined || end.started) return
    end.started = true
    for (const _ of end.waiting) queueTask(() => deliver(end))
  }

  close(): void {
    const end = take(this)
    const other = end?.other
    if (end === undefined || other === undefined) return
    end.other = undefined
    other.other = undefined
    queueTask(() => other.owner !== undefined && fireAt(other.owner, 'close'))
  }
}

const deliver = (end: End): void => {
  const { owner } = end
  if (owner === undefined || !end.started) return
  const message = end.waiting.shift()
  if (message !== undefined) fireAt(owner, 'message', message)
}

/** The second argument of postMessage: a list to transfer, or options with one. */
const toOptions = (
  options: Iterable<unknown> | { transfer?: Iterable<unknown> } | null,
): { transfer?: Iterable<unknown> } | null =>
  typeof options === 'object' && options !== null && Symbol.iterator in options
    ? { transfer: options }
    : options

defineEventHandler(MessagePort.prototype, 'message', (port: MessagePort) => port.start())
defineEventHandler(MessagePort.prototype, 'messageerror')
defineEventHandler(MessagePort.prototype, 'close')

defineTransferable({
  owns: (value) => isPort(value),
  assertMovable(port) {
    if (endOf(port as MessagePort) === undefined)
      throw uncloneable('A port that is closed or sent cannot be transferred')
  },
  move(port) {
    const end = take(port as MessagePort)
    if (end !== undefined) end.started = false
    return new MessagePort(made, end)
  },
})

export const isMessagePort = (value: unknown): value is MessagePort => isPort(value)

/** Two ports; what is sent to the one arrives at the other. */
export const createPorts = (): [MessagePort, MessagePort] => {
  const first: End = { owner: undefined, other: undefined, started: false, waiting: [] }
  const second: End = { owner: undefined, other: first, started: false, waiting: [] }
  first.other = second
  return [new MessagePort(made, first), new MessagePort(made, second)]
}

export const fireMessagesWith = (fire: typeof fireAt): void => {
  fireAt = fire
}
