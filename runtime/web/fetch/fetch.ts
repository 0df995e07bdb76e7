import type { Calls, Settled } from '../bridge/calls.ts'
import { Bytes, NativePromise, numberText, quote } from '../primordials.ts'
import { bodyFromWire, takeBody } from './body.ts'
import { Request, type RequestInit, requestParts } from './request.ts'
import { createFetchedResponse, type Response } from './response.ts'

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
  async (input: unknown, init?: RequestInit): Promise<Response> => {
    const { outline, headers, body, signal } = requestParts(new Request(input, init))
    signal?.throwIfAborted()
    const given = takeBody(body, 'Request')
    let pairs = ''
    for (const [name, value] of headers) pairs += `${pairs === '' ? '' : ','}[${quote(name)},${quote(value)}]`
    const args =
      `{"method":${quote(outline.method)},"url":${quote(outline.url)},` +
      `"headers":[${pairs}],"redirect":${quote(outline.redirect)}${lengthText(given)}}`
    return await new NativePromise<Response>((resolve, reject) => {
      const abort = () => {
        calls.abort(id)
        reject(signal?.reason)
      }
      const id = calls.start('fetch', args, given, (settled) => {
        signal?.removeEventListener('abort', abort)
        if (settled.ok) resolve(toResponse(settled))
        else
          reject(new TypeError(`fetch failed: ${settled.error.message}`, { cause: toCause(settled.error) }))
      })
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

/** Of a body that goes in pieces: whoever gets it may want to know in advance. */
const lengthText = (body: unknown): string =>
  body instanceof Bytes ? `,"length":${numberText(body.length)}` : ''

const toResponse = ({ value, body }: Extract<Settled, { ok: true }>): Response => {
  const { status, statusText = '', headers, url = '', redirected = false } = value as FetchedHead
  return createFetchedResponse({ status, statusText, url, redirected }, headers, bodyFromWire(body))
}

const toCause = ({ name, message }: { name: string; message: string }): Error => {
  const cause = new Error(message)
  if (name !== 'Error') cause.name = name
  return cause
}
