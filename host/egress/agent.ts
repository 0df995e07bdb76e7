import { Agent, type buildConnector, Client, type Dispatcher, Pool } from 'undici'
import { type AnswerStarts, skipInterimAnswers } from './answer-start.ts'
import { type Connection, connectTimed } from './connection.ts'
import type { Asked } from './guard.ts'
import { createRoom, type Room } from './room.ts'

/** The place of one connection to an origin. When it has ended, the next request there opens another. */
export type Line = { connection: Connection | undefined }

/** In the options of a dispatch: on whose behalf it is, and who looks on. */
export type Observed = Asked & {
  /** Over a new connection, not over one that is kept. */
  isFresh?: boolean
  observer?: {
    /** Set to the line that the request waits for, and then is sent on. */
    line: Line | undefined
    /** Whether nobody waits for it any more. */
    readonly isOver: boolean
    /** What has come over the connection since it was sent, in bytes, each time that some of it was read. */
    onRead(bytes: number): void
    /** The status of its answer has come, before the rest of the head. */
    onStatus?(status: number): void
  }
}

export type PoolOptions = {
  connect: buildConnector.connector
  /** Connections to one origin at once. */
  connectionsPerOrigin: number
  /** Connections to all origins, above which idle ones end: see `createRoom`. */
  connections: number
  /** How long an idle one is kept when its server does not say. */
  keepAliveMs: number
}

/** Of an answer's head, names and values: four times what Node takes, as receivers send long cookies and policies. */
const maxHeadBytes = 65_536

/**
 * A pool of connections for each origin, which carry one request at a time and are kept alive: for `keepAliveMs`,
 * or what a receiver asks for up to a minute, or until there are too many.
 */
export function createPools(given: PoolOptions): Agent {
  const { connect, connectionsPerOrigin, connections, keepAliveMs } = given
  const room = createRoom(connections)
  return new Agent({
    connections: connectionsPerOrigin,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    // A receiver may ask for a longer life of a connection, within reason.
    keepAliveMaxTimeout: 60_000,
    maxHeaderSize: maxHeadBytes,
    factory: (origin, options) =>
      new Pool(origin, {
        ...options,
        factory: (url, clientOptions) => new LineClient(url, clientOptions, connect, room),
      }),
  })
}

/** undici's client for one connection, which shows the connection to whoever sends over it. */
class LineClient extends Client implements Line {
  connection: Connection | undefined
  readonly #room: Room
  #asker: string | undefined
  #observer: Observed['observer']
  #readBefore = 0
  #answers: AnswerStarts | undefined

  constructor(origin: URL, options: object, connect: buildConnector.connector, room: Room) {
    // A client connects at its first request, long after it was made.
    const made: { client?: LineClient } = {}
    super(origin, {
      ...options,
      connect: (target: buildConnector.Options, callback: buildConnector.Callback) =>
        made.client?.open(connect, target, callback),
    })
    this.#room = room
    made.client = this
    // By now undici listens: what it makes of a piece comes first.
    this.on('connect', () => this.#watchReads())
  }

  get isIdle(): boolean {
    return this.stats.size === 0
  }

  open(
    connect: buildConnector.connector,
    target: buildConnector.Options,
    callback: buildConnector.Callback,
  ): void {
    const options: buildConnector.Options & Asked = { ...target, asker: this.#asker }
    const connection = connectTimed(connect, options, callback)
    this.connection = connection
    if (connection.socket !== undefined) this.#room.enter(this, connection.socket)
  }

  override dispatch(
    options: Dispatcher.DispatchOptions & Observed,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const { asker, observer, isFresh = false } = options
    // It gave up in the queue of its pool. undici could only end the connection for it.
    if (observer?.isOver) return true
    if (observer !== undefined) observer.line = this
    // undici opens another one for the request.
    if (isFresh && this.isIdle) this.connection?.socket?.destroy()
    this.#asker = asker
    this.#observer = observer
    this.#readBefore = this.connection?.socket?.bytesRead ?? 0
    this.#answers?.expect()
    this.#room.touch(this)
    return super.dispatch(options, handler)
  }

  /** undici counts what it makes something of: not the frames of chunks, nor the words beside a status. */
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
