import { parseMimeType } from '../file/mime-type.ts'

/**
 * Fetch standard, "headers guard". There are no guards "request" and "response": what they forbid to a page
 * (Cookie, Host, Set-Cookie …) is what a server has to write.
 */
export type Guard = 'none' | 'immutable' | 'request-no-cors'

const simpleTypes = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']
const simpleNames = ['accept', 'accept-language', 'content-language', 'content-type']
// biome-ignore lint/suspicious/noControlCharactersInRegex: "CORS-unsafe request-header bytes" are mostly those
const unsafeByte = /[\x00-\x08\x0a-\x1f"():<>?@[\\\]{}\x7f]/
const language = /^[0-9A-Za-z *,\-.;=]*$/

/** "No-CORS-safelisted request-header name". */
export const isSimpleHeaderName = (name: string): boolean => simpleNames.includes(name)

/** "No-CORS-safelisted request-header": what a request of the mode "no-cors" may hold. */
export const isSimpleHeader = (name: string, value: string): boolean => {
  if (!isSimpleHeaderName(name) || value.length > 128) return false
  if (name === 'accept') return !unsafeByte.test(value)
  if (name !== 'content-type') return language.test(value)
  return !unsafeByte.test(value) && simpleTypes.includes(parseMimeType(value)?.essence ?? '')
}
