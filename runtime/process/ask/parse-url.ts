import type { UrlSetter } from '../../bridge.ts'
import { isValidDomain } from './domain-to-ascii.ts'

/** Characters of a URL. The parser takes linear time: about 30 ms for this much. */
const longestUrl = 1_048_576
const hasDomain = /^(?:https?|wss?|ftp|file):/

/** The href of the URL that `text` is, seen from `base`; an empty text where it is none, or longer than may be. */
export function parseUrl(text: unknown, base: unknown): string {
  if (!isUrlText(text) || !(base === undefined || isUrlText(base))) return ''
  const url = base === undefined ? URL.parse(text) : URL.parse(text, base)
  return url !== null && isValid(url) ? url.href : ''
}

/** The href of a URL after one of its setters; an empty text where the setter changes nothing. */
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

/** A host of another scheme is opaque: nobody looks up what it stands for. */
const isValid = (url: URL): boolean =>
  !url.href.includes('xn--') || !hasDomain.test(url.protocol) || isValidDomain(url.hostname)
