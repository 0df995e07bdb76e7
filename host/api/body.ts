import type { IncomingMessage } from 'node:http'
import type { ErrorObject } from 'ajv/dist/2020.js'
import type { Context } from 'koa'
import { createCheck } from '../../schemas/create-check.ts'
import { describeError } from '../../schemas/describe-error.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { assertExact } from '../errors/exact-numbers.ts'
import { assertShallow } from '../errors/json-depth.ts'
import { requestBrokeOffError } from '../errors/request-broke-off.ts'
import { isBrokenConnection } from './log-error.ts'

const none = Buffer.alloc(0)
const maxJsonBytes = 1024 * 1024
const maxDetails = 20
const maxFields = 50

/**
 * The bytes of a request's body.
 *
 * @throws AnnexError `body_too_large`; `bad_request` when it breaks off, or its framing is not HTTP
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (Number(length ?? 0) > maxBytes) return Promise.reject(tooLarge(maxBytes))
  // RFC 9112, 6.3: a request with neither has no body.
  if (encoding === undefined && Number(length ?? 0) === 0) return Promise.resolve(none)
  // Its visitor has gone away before anybody listened.
  if (request.destroyed) return Promise.reject(requestBrokeOffError())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= maxBytes) return
      // The rest comes in and is dropped: a visitor who is still sending would not read the answer.
      request.off('data', take).resume()
      reject(tooLarge(maxBytes))
    }
    // Listeners, as an iterator over the request takes a tenth of the time of a small one. Not `once`: each of these comes
    // once, and would be wrapped.
    request.on('data', take)
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    request.on('error', (error) => reject(isBrokenConnection(error) ? requestBrokeOffError() : error))
    // Comes after `end`, too.
    request.on('close', () => {
      if (!request.readableEnded) reject(requestBrokeOffError())
    })
  })
}

const tooLarge = (maxBytes: number): AnnexError =>
  new AnnexError('body_too_large', `The body is larger than ${maxBytes} bytes.`)

/**
 * A reader of JSON bodies with that schema. It throws AnnexError `bad_request`, `body_invalid` or `body_too_large`.
 *
 * @param maxBytes default: 1 MiB
 */
export function jsonBody<T>(schema: object, maxBytes = maxJsonBytes): (context: Context) => Promise<T> {
  const validator = createCheck<T>(schema, { allErrors: true, strict: true })
  return async (context) => {
    const value = await readJson(context, maxBytes)
    if (isObject(value) && Object.keys(value).length > maxFields) {
      throw new AnnexError('body_invalid', `The JSON body has more than ${maxFields} fields.`)
    }
    const check = validator()
    if (check(value)) return value
    const details = (check.errors ?? []).slice(0, maxDetails).map(toDetail)
    const list = details.map(({ path, message }) => `${path || 'body'} ${message}`).join('; ')
    throw new AnnexError('body_invalid', `The JSON body cannot be used: ${list}.`, { details })
  }
}

/** Any JSON value, nested at most 64 deep. @throws AnnexError `bad_request`, `body_too_large` */
export async function readJson(context: Context, maxBytes = maxJsonBytes): Promise<unknown> {
  const text = (await readBody(context.req, maxBytes)).toString('utf8')
  assertShallow(text)
  let value: unknown
  try {
    value = JSON.parse(text === '' ? '{}' : text)
  } catch (cause) {
    throw new AnnexError('bad_request', 'The body is not JSON.', { cause })
  }
  assertExact(text)
  return value
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function toDetail(error: ErrorObject): {
  path: string
  message: string
} {
  const unknown = error.params.additionalProperty
  return {
    path: [error.instancePath.slice(1).replaceAll('/', '.'), unknown].filter(Boolean).join('.'),
    message: unknown === undefined ? describeError(error) : 'is not a known field',
  }
}
