import type { IncomingMessage } from 'node:http'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Context } from 'koa'
import { AnnexError } from '../errors/annex-error.ts'

const none = Buffer.alloc(0)
const maxJsonBytes = 1024 * 1024

/** The bytes of a request's body. @throws AnnexError `body_too_large` */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new AnnexError('body_too_large', `The body is larger than ${maxBytes} bytes.`)
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (Number(length ?? 0) > maxBytes) throw tooLarge()
  // RFC 9112, 6.3: a request with neither has no body.
  if (encoding === undefined && Number(length ?? 0) === 0) return none
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
}

const ajv = new Ajv2020({ allErrors: true, strict: true })

/** A reader of JSON bodies with that schema. It throws AnnexError `bad_request` or `body_invalid`. */
export function jsonBody<T>(schema: object): (context: Context) => Promise<T> {
  const check: ValidateFunction<T> = ajv.compile<T>(schema)
  return async (context) => {
    const value = await readJson(context)
    if (check(value)) return value
    const details = (check.errors ?? []).map(toDetail)
    const list = details.map(({ path, message }) => `${path || 'body'} ${message}`).join('; ')
    throw new AnnexError('body_invalid', `The JSON body cannot be used: ${list}.`, { details })
  }
}

/** Any JSON value. @throws AnnexError `bad_request` */
export async function readJson(context: Context): Promise<unknown> {
  const text = (await readBody(context.req, maxJsonBytes)).toString('utf8')
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch (cause) {
    throw new AnnexError('bad_request', 'The body is not JSON.', { cause })
  }
}

function toDetail({ instancePath, message = 'is not valid', params }: ErrorObject): {
  path: string
  message: string
} {
  const unknown = params.additionalProperty
  return {
    path: [instancePath.slice(1).replaceAll('/', '.'), unknown].filter(Boolean).join('.'),
    message: unknown === undefined ? message : 'is not a known field',
  }
}
