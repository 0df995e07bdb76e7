import type { Calls, Settled } from '../bridge/calls.ts'
import type { AbortSignal } from '../events/abort-signal.ts'
import { Bytes, NativePromise, numberText, quote } from '../primordials.ts'
import {
  type Body,
  bodyFromWire,
  bodyOfSource,
  cancelBody,
  lengthInPieces,
  type OutgoingBody,
  takeBody,
} from './body.ts'
import { readDataUrl } from './data-url.ts'
import { headerValue } from './headers.ts'
import { Request, requestParts } from './request.ts'
import type { RequestInit } from './request-init.ts'
import { assertFetchable } from './request-url.ts'
import { createFetchedResponse, nullBodyStatus, type Response } from './response.ts'

type FetchedHead = {
  status: number
  statusText?: string
  headers: [string, string][]
  url?: string
  redirected?: boolean
}

/**
 * The global `fetch`: a call named `fetch`, which the host makes after its own checks.
 * Rejects with a TypeError that says "fetch failed" where no answer came.
 */
export const createFetch =
  (calls: Calls) =>
  async (input: unknown, init: RequestInit | undefined = undefined): Promise<Response> => {
    const { outline, headers, body, signal } = requestParts(new Request(input, init))
    if (signal?.aborted === true) {
      cancelBody(body, signal.reason)
      throw signal.reason
    }
    if (outline.url.startsWith('data:')) return toDataResponse(outline, signal)
    assertFetchable(outline.url)
    if ((outline.browser?.integrity ?? '') !== '') throw unchecked()
    const given = takeBody(body, 'Request')
    let pairs = ''
    for (const [name, value] of headers) pairs += `${pairs === '' ? '' : ','}[${quote(name)},${quote(value)}]`
    let args =
      `{"method":${quote(outline.method)},"url":${quote(outline.url)},` +
      `"headers":[${pairs}],"redirect":${quote(outline.redirect)}${lengthText(given)}}`
    for (;;) {
      // Kept here: a promise that is resolved with an object shows it to a `then` on Object.prototype.
      let answer: Settled | undefined
      await new NativePromise<void>((resolve, reject) => {
        const settle = (settled: Settled) => {
          answer = settled
          resolve()
        }
        startCall(calls, { args, body: given, signal, settle, reject })
      })
      const settled = answer as unknown as Settled
      const { repeat } = (settled.ok ? settled.value : {}) as { repeat?: string }
      if (repeat === undefined) return responseIn(settled, signal, outline.method)
      // A redirect that keeps the body, of which only this side has the bytes: the host says what to ask for next.
      args = repeat
    }
  }

const startCall = (
  calls: Calls,
  given: {
    args: string
    body: OutgoingBody | undefined
    signal: AbortSignal | undefined
    settle: (settled: Settled) => void
    reject: (reason: unknown) => void
  },
): void => {
  const { signal } = given
  if (signal?.aborted === true) return given.reject(signal.reason)
  const abort = () => {
    calls.abort(id)
    given.reject(signal?.reason)
  }
  const id = calls.start('fetch', given.args, given.body, (settled) => {
    signal?.removeEventListener('abort', abort)
    if (settled.ok && signal !== undefined) followAbort(signal, settled.breakOff)
    given.settle(settled)
  })
  signal?.addEventListener('abort', abort, { once: true })
}

/** A failure throws after the `await`: there V8 knows the waiting line of the author. */
const responseIn = (settled: Settled, signal: AbortSignal | undefined, method: string): Response => {
  if (settled.ok) return toResponse(settled, signal, method)
  throw new TypeError(`fetch failed: ${settled.error.message}`, { cause: toCause(settled.error) })
}

/** Of a body that goes in pieces: its receiver may want to know in advance. */
const lengthText = (body: OutgoingBody | undefined): string => {
  const length = lengthInPieces(body)
  if (length === undefined) return ''
  return `,"length":${numberText(length)}${body instanceof Bytes ? ',"isRepeatable":true' : ''}`
}

const toResponse = (
  { value, body }: Extract<Settled, { ok: true }>,
  signal: AbortSignal | undefined,
  method: string,
): Response => {
  const { status, statusText = '', headers, url = '', redirected = false } = value as FetchedHead
  // Fetch standard: an answer without bytes has a body all the same, which is an empty one.
  const isNull = method === 'HEAD' || nullBodyStatus.has(status)
  const answer = withSignal(
    bodyFromWire(body, headerValue(headers, 'content-length')) ?? (isNull ? null : bodyOfSource('')),
    signal,
  )
  return createFetchedResponse({ status, statusText, url, redirected }, headers, answer)
}

/** Fetch standard, "abort a fetch() call": the body that is still on its way ends, at both ends. */
const followAbort = (signal: AbortSignal, breakOff: ((reason: unknown) => void) | undefined): void => {
  if (breakOff === undefined) return
  signal.addEventListener('abort', () => breakOff(signal.reason), { once: true })
}

const withSignal = (body: Body | null, signal: AbortSignal | undefined): Body | null => {
  if (body !== null && signal !== undefined) body.signal = signal
  return body
}

/** A script relies on the digest that it names: a request with one fails, as it would go unchecked. */
const unchecked = (): TypeError =>
  new TypeError(
    'fetch failed: "integrity" is not checked in a sandbox; compare the body with crypto.subtle.digest',
  )

/** A `data:` URL makes no host call, and does not count as traffic. */
const toDataResponse = (
  { url, method }: { url: string; method: string },
  signal: AbortSignal | undefined,
): Response => {
  const data = readDataUrl(url)
  if (data === undefined)
    throw new TypeError('fetch failed: the URL is no data: URL with a comma and valid base64')
  const head = { status: 200, statusText: 'OK', url: url.replace(/#.*/, ''), redirected: false }
  const body = method === 'HEAD' ? null : withSignal(bodyOfSource(data.bytes), signal)
  return createFetchedResponse(head, [['content-type', data.type]], body)
}

const toCause = ({ name, message }: { name: string; message: string }): Error => {
  const cause = new Error(message)
  if (name !== 'Error') cause.name = name
  return cause
}
