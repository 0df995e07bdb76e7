import { URL } from '../url/url.ts'

/** In a serialized URL, an "@" in front of the host belongs to credentials. */
const credentials = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*@/

/** The URL of a request. Throws a TypeError where it is none, or holds a user name or a password. */
export const parseRequestUrl = (input: unknown): string => {
  const { href } = parseUrlFor(input, 'The URL of a request')
  if (!credentials.test(href)) return href
  throw new TypeError('A URL that is fetched may hold no user name or password; send them as a header')
}

/** A URL, or a TypeError that says what it was for. */
export const parseUrlFor = (input: unknown, what: string): globalThis.URL => {
  const text = `${input}`
  try {
    return new URL(text)
  } catch {
    throw new TypeError(`${what} is ${JSON.stringify(text.slice(0, 200))}, which is no absolute URL`)
  }
}

/** Fetch standard, "bad port": other protocols listen there, and a request could be taken for one of theirs. */
const badPorts = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/** The scheme and the port of a serialized URL without credentials: parsing it once more would cost more. */
const schemeAndPort = /^(https?):\/\/(?:\[[^\]]*\]|[^/:]*)(?::(\d+))?\//

/** Throws a TypeError where no request may go: another scheme than http and https, or a bad port. */
export const assertFetchable = (href: string): void => {
  const found = schemeAndPort.exec(href)
  if (found === null)
    throw new TypeError('fetch failed: a request goes to an URL of the scheme http or https')
  if (found[2] !== undefined && badPorts.has(Number(found[2])))
    throw new TypeError(`fetch failed: the port ${found[2]} belongs to another protocol than HTTP`)
}
