import type { Socket } from 'node:net'
import { Agent, type buildConnector, Client, type Dispatcher, Pool } from 'undici'
import type { ConnectOptions } from './address-guard.ts'
import { type Answers, type Connection, connectTimed, skipInterimAnswers } from './connection.ts'

/** One of the connections to a URL origin. After it has closed, the next request opens another in the same slot. */
export type ConnectionSlot = { connection: Connection | undefined }

/** Follows one request. */
export type Observer = {
  /** The slot that the request waits for and is then sent over. The agent sets it. */
  slot: ConnectionSlot | undefined
  /** The sender has given up. */
  readonly isOver: boolean
  /** Called after each read, with the bytes that the connection has read since the request was sent. */
  onRead(bytes: number): void
  /** The status of the answer has come, before the rest of its head. */
  onStatus?(status: number): void
}

/** The options of a dispatch that undici does not know. */
export type OutboundOptions = ConnectOptions & {
  /** Sends over a new connection, and not over a kept one. */
  isFresh?: boolean
  observer?: Observer
}

export type AgentOptions = {
  connect: buildConnector.connector
  /** Connections to one URL origin. */
  connectionsPerUrlOrigin: number
  /** Connections to all URL origins. Above this number idle connections are closed. */
  connections: number
  /** How long an idle connection is kept when its server names no time. */
  keepAliveMs: number
}

/** Names and values of an answer's head: four times Node's limit, as receivers send long cookies and policies. */
const maxHeadBytes = 65_536

/**
 * A pool of connections for each URL origin. A connection carries one request at a time. It is kept for `keepAliveMs`, for as
 * long as its server asks (a minute at most), or until there are too many.
 */
export function createAgent(options: AgentOptions): Agent {
  const { connect, connectionsPerUrlOrigin, connections, keepAliveMs } = options
  const limit = createConnectionLimit(connections)
  return new Agent({
    connections: connectionsPerUrlOrigin,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: 60_000,
    maxHeaderSize: maxHeadBytes,
    factory: (urlOrigin, poolOptions) =>
      new Pool(urlOrigin, {
        ...poolOptions,
        factory: (url, clientOptions) => new SlotClient(url, clientOptions, connect, limit),
      }),
  })
}

/** undici's client for one connection, which shows its connection to the sender of a request. */
class SlotClient extends Client implements ConnectionSlot {
  connection: Connection | undefined
  readonly #limit: ConnectionLimit
  #tenant: string | undefined
  #observer: Observer | undefined
  #readBefore = 0
  #answers: Answers | undefined

  constructor(url: URL, options: object, connect: buildConnector.connector, limit: ConnectionLimit) {
    // undici connects at the first request, when the constructor is long over.
    const made: { client?: SlotClient } = {}
    super(url, {
      ...options,
      connect: (destination: buildConnector.Options, callback: buildConnector.Callback) =>
        made.client?.open(connect, destination, callback),
    })
    this.#limit = limit
    made.client = this
    // undici has added its own listeners by now, and they run first.
    this.on('connect', () => this.#watchReads())
  }

  get isIdle(): boolean {
    return this.stats.size === 0
  }

  open(
    connect: buildConnector.connector,
    destination: buildConnector.Options,
    callback: buildConnector.Callback,
  ): void {
    const options: buildConnector.Options & ConnectOptions = { ...destination, tenant: this.#tenant }
    const connection = connectTimed(connect, options, callback)
    this.connection = connection
    if (connection.socket !== undefined) this.#limit.add(this, connection.socket)
  }

  override dispatch(
    options: Dispatcher.DispatchOptions & OutboundOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const { tenant, observer, isFresh = false } = options
    // The request timed out in the queue of its pool. undici could only close the connection for it.
    if (observer?.isOver) return true
    if (observer !== undefined) observer.slot = this
    // undici opens another connection for the request.
    if (isFresh && this.isIdle) this.connection?.socket?.destroy()
    this.#tenant = tenant
    this.#observer = observer
    this.#readBefore = this.connection?.socket?.bytesRead ?? 0
    this.#answers?.expectNext()
    this.#limit.touch(this)
    return super.dispatch(options, handler)
  }

  /** undici reports neither the frames of chunks nor the reason phrase of a status. */
  #watchReads(): void {
    const { connection } = this
    const socket = connection?.socket
    if (connection === undefined || socket === undefined) return
    this.#readBefore = 0
    this.#answers = skipInterimAnswers(socket, {
      isSent: () => this.stats.running > 0,
      onStatus: (status) => this.#observer?.onStatus?.(status),
    })
    socket.on('readable', () => {
      connection.isUsed = true
      this.#observer?.onRead(socket.bytesRead - this.#readBefore)
    })
  }
}

type IdleClient = { readonly isIdle: boolean }

type ConnectionLimit = {
  /** Counts a socket until it is closed, and closes idle ones above the limit. */
  add(client: IdleClient, socket: Socket): void
  /** Marks a client as used last. */
  touch(client: IdleClient): void
}

/**
 * Bounds the open connections of all URL origins together: thousands of receivers with one delivery each would otherwise hold
 * a file descriptor each. A new connection above the limit closes the one that has been idle for longest. Connections in
 * use are never closed: the callers limit how many requests are in flight.
 */
function createConnectionLimit(max: number): ConnectionLimit {
  // In the order of their last use.
  const open = new Map<IdleClient, Socket>()
  const closeIdle = (): void => {
    for (const [client, socket] of open) {
      if (open.size <= max) return
      if (!client.isIdle) continue
      open.delete(client)
      socket.destroy()
    }
  }
  return {
    add(client, socket) {
      open.delete(client)
      open.set(client, socket)
      socket.once('close', () => {
        if (open.get(client) === socket) open.delete(client)
      })
      closeIdle()
    },
    touch(client) {
      const socket = open.get(client)
      if (socket === undefined) return
      open.delete(client)
      open.set(client, socket)
    },
  }
}
