import { lengthInPieces, type OutgoingBody, takeBody } from '../fetch/body.ts'
import { isResponse, type Response, responseParts } from '../fetch/response.ts'
import { isArray, NativeTypeError, numberText, quote, toJsonText } from '../primordials.ts'

/**
 * A DispatchResult as JSON text. `body` is what goes beside it. Throws a TypeError that names what was returned where
 * that is no answer.
 */
export const answerText = (
  result: unknown,
  body: OutgoingBody | undefined,
  mustBeResponse: boolean,
): string => {
  if (isResponse(result)) return responseText(result, lengthInPieces(body))
  if (mustBeResponse) {
    throw new NativeTypeError(`The fetch handler must return a Response, but it returned ${describe(result)}`)
  }
  if (result === undefined || result === null) return '{"kind":"none"}'
  if (typeof result !== 'object' || !('value' in result)) {
    throw new NativeTypeError(`The handler returned ${describe(result)}, which is no answer`)
  }
  return `{"kind":"value","value":${toJsonText(result.value) ?? 'null'}}`
}

/** The body beside the answer: whole, or in pieces when it is long or a stream. */
export const bodyOfAnswer = (result: unknown): OutgoingBody | undefined =>
  isResponse(result) ? takeBody(responseParts(result).body, 'Response') : undefined

const responseText = (response: Response, length: number | undefined): string => {
  const { status, statusText, headers } = responseParts(response)
  assertSendable(statusText, headers)
  if (!(status >= 200)) throw new NativeTypeError('Response.error() cannot be sent; use new Response(…)')
  let pairs = ''
  for (let i = 0; i < headers.length; i++) {
    const pair = headers[i]
    if (pair === undefined) continue
    pairs += `${pairs === '' ? '' : ','}[${quote(pair[0])},${quote(pair[1])}]`
  }
  const text =
    (statusText === '' ? '' : `"statusText":${quote(statusText)},`) +
    (length === undefined ? '' : `"length":${numberText(length)},`)
  return `{"kind":"response","head":{"status":${numberText(status)},${text}"headers":[${pairs}]}}`
}

const maxHeaders = 1000
const maxHeaderLength = 65_536
const maxStatusTextLength = 1000

/** The host takes no more; said here, so that it is the author who learns of it. */
const assertSendable = (statusText: string, headers: ArrayLike<readonly [string, string]>): void => {
  if (headers.length > maxHeaders) {
    throw new NativeTypeError(`A response has at most ${maxHeaders} headers, not ${headers.length}`)
  }
  if (statusText.length > maxStatusTextLength) {
    throw new NativeTypeError(`A statusText has at most ${maxStatusTextLength} characters`)
  }
  for (let i = 0; i < headers.length; i++) {
    const pair = headers[i]
    if (pair !== undefined && (pair[0].length > maxHeaderLength || pair[1].length > maxHeaderLength)) {
      throw new NativeTypeError(`A header has at most ${maxHeaderLength} characters`)
    }
  }
}

const describe = (value: unknown): string => {
  if (value === null) return 'null'
  if (isArray(value)) return 'an array'
  switch (typeof value) {
    case 'undefined':
      return 'undefined (is a return or an await missing?)'
    case 'object':
      return 'an object that is none (use new Response(…) or Response.json(…))'
    case 'function':
      return 'a function'
    case 'string':
      return 'a string (use new Response(text))'
    default:
      return `a ${typeof value}`
  }
}
