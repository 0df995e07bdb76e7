import { toASCII } from 'tr46'
import type { UrlSetter } from '../../bridge.ts'

/** Characters of a URL. The parser takes linear time: about 30 ms for this much. */
const longestUrl = 1_048_576
const hasDomain = /^(?:https?|wss?|ftp|file):/

/** @returns the href of the URL `text` relative to `base`; an empty text for an invalid or too long one */
export function parseUrl(text: unknown, base: unknown): string {
  if (!isUrlText(text) || !(base === undefined || isUrlText(base))) return ''
  const url = base === undefined ? URL.parse(text) : URL.parse(text, base)
  return url !== null && isValid(url) ? url.href : ''
}

/** @returns the href of a URL after one of its setters; an empty text where the setter changes nothing */
export function setUrl(setter: UrlSetter, href: unknown, value: unknown): string {
  if (!isUrlText(href) || !isUrlText(value)) return ''
  const url = URL.parse(href)
  if (url === null) return ''
  switch (setter) {
    case 'url-protocol':
      url.protocol = value
      break
    case 'url-username':
      url.username = value
      break
    case 'url-password':
      url.password = value
      break
    case 'url-host':
      url.host = value
      break
    case 'url-hostname':
      url.hostname = value
      break
    case 'url-port':
      url.port = value
      break
    case 'url-pathname':
      url.pathname = value
      break
    case 'url-search':
      url.search = value
      break
    case 'url-hash':
      url.hash = value
      break
    default:
      return ''
  }
  return isValid(url) ? url.href : ''
}

const isUrlText = (value: unknown): value is string => typeof value === 'string' && value.length <= longestUrl

/** The host of any other scheme is opaque, and is not resolved. */
const isValid = (url: URL): boolean =>
  !url.href.includes('xn--') || !hasDomain.test(url.protocol) || isValidDomain(url.hostname)

/** Characters. A real name has 253 at most. The time of the check grows with the square of the length. */
const longestChecked = 2048

/** URL standard, "domain to ASCII" with beStrict false. */
const domainOptions = {
  checkBidi: true,
  checkHyphens: false,
  checkJoiners: true,
  useSTD3ASCIIRules: false,
  verifyDNSLength: false,
  transitionalProcessing: false,
  ignoreInvalidPunycode: false,
}

/**
 * Whether each Punycode label of a host is a valid name. Node's URL parser does not check them: it takes labels that decode to
 * nothing, and names that mix directions of writing.
 */
function isValidDomain(host: string): boolean {
  if (!host.includes('xn--') || host.length > longestChecked) return true
  return toASCII(host, domainOptions) === host
}
