import { createParser, type ParseError } from 'eventsource-parser'
import { type Client, createClient, NoAnnexError, ParameterError } from '../../schemas/client.ts'
import { AnnexError, messageOf } from '../errors.ts'
import { quoteValue } from '../manifest/message-text.ts'
import { UsageError } from './options.ts'

/** The API of a running Annex. Without an answer, a call throws AnnexError `unavailable`. */
export type Api = Client & {
  /** For answers that may take any time. */
  long: Client
}

const timeoutMs = 30_000

/** @param server.token bearer token; without one the API answers open operations only */
export function createApi(server: { url: string; token?: string | undefined }): Api {
  const create = (send: typeof fetchInTime) =>
    createClient({
      ...server,
      fetch: (url, init) =>
        send(url, init).catch((cause) => {
          throw new AnnexError('unavailable', whyNoAnswer(server.url, cause), { cause })
        }),
    })
  return { ...create(fetchInTime), long: create(fetchEndlessly) }
}

const fetchInTime = (url: URL, init: RequestInit): Promise<Response> =>
  fetch(url, { ...init, signal: init.signal ?? AbortSignal.timeout(timeoutMs) })

/** Node's own fetch gives up after five minutes without an answer, and between two pieces of one. */
async function fetchEndlessly(url: URL, init: RequestInit): Promise<Response> {
  const undici = await import('undici')
  const dispatcher = new undici.Agent({ headersTimeout: 0, bodyTimeout: 0 })
  return (await undici.fetch(url, { ...(init as object), dispatcher })) as unknown as Response
}

function whyNoAnswer(base: string, cause: unknown): string {
  const inner = cause instanceof Error ? cause.cause : undefined
  if (inner instanceof Error && 'code' in inner && inner.code === 'ECONNREFUSED') {
    return `No Annex is running at ${base}. Start one with \`make run\`, or name another with --url or ANNEX_URL.`
  }
  const reason = inner instanceof Error ? inner.message : messageOf(cause)
  return `${base} does not answer (${reason}). Is an Annex running there? \`make run\` starts one.`
}

/** An error of the client, as a command reports it. */
export function toCommandError(error: unknown): unknown {
  if (error instanceof ParameterError) return noName(error.value)
  if (!(error instanceof NoAnnexError)) return error
  return new AnnexError('unavailable', `${error.message} Check --url.`, { cause: error })
}

/** @throws UsageError for an empty text or a dot segment, which would make another path */
export function assertName(text: string): void {
  if (/^\.*$/.test(text)) throw noName(text)
}

const noName = (text: string): UsageError =>
  new UsageError(
    `${text === '' ? 'An empty text' : quoteValue(text)} is no id and no name. Lists show both: \`npx annex deliveries\`, for example.`,
  )

/** All records of a list. */
export async function readAll<Item>(all: AsyncIterable<Item>): Promise<{ items: Item[]; count: number }> {
  const items: Item[] = []
  for await (const item of all) items.push(item)
  return { items, count: items.length }
}

export type ServerEvent = { event: string; data: string; lastEventId: string; retryMs: number | undefined }

/** Another server may send a line or an event without an end. */
const maxBufferSize = 4 * 1024 * 1024

/**
 * Reads server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html section 9.2.6. A last event without an
 * end is dropped.
 *
 * @param onCursor gets an id that comes without an event
 */
export async function* readServerEvents(
  body: AsyncIterable<Uint8Array> | null,
  onCursor: (id: string) => void = () => {},
): AsyncGenerator<ServerEvent> {
  let found: (ServerEvent | { cursor: string })[] = []
  let lastEventId = ''
  let retryMs: number | undefined
  let failed: ParseError | undefined
  const parser = createParser({
    maxBufferSize,
    onId(id) {
      lastEventId = id
      found.push({ cursor: id })
    },
    onEvent({ event, data, id }) {
      // The caller knows an event's cursor only once it has the event.
      if (id !== undefined) found.pop()
      found.push({ event: event || 'message', data, lastEventId, retryMs })
    },
    onRetry(ms) {
      retryMs = ms
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') failed = error
    },
  })
  const decoder = new TextDecoder()
  for await (const bytes of body ?? []) {
    parser.feed(decoder.decode(bytes, { stream: true }))
    const all = found
    found = []
    for (const one of all) {
      if (!('cursor' in one)) yield one
      else if (one.cursor !== '') onCursor(one.cursor)
    }
    if (failed !== undefined) throw failed
  }
}
