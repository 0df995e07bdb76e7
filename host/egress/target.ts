import { AnnexError } from '../errors/annex-error.ts'
import { badPorts } from './bad-ports.ts'
import type { Egress } from './egress.ts'

/**
 * Reads the URL of an outbound request and checks what can be checked before a connection: http or https, no
 * user name or password, no port of another protocol. The URL parser also turns every spelling of an address
 * (`0x7f.1`, `2130706433`, `127.1`) into the plain one that the connect step judges.
 *
 * @throws AnnexError `bad_request` for what is no URL, `egress_refused` for the rest
 */
export function parseTarget(text: string, egress: Pick<Egress, 'isOwn'>): URL {
  const url = URL.parse(text)
  if (url === null) throw new AnnexError('bad_request', `"${clip(text)}" is no absolute URL.`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AnnexError('egress_refused', `Requests from here use http: or https:, not ${url.protocol}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new AnnexError(
      'egress_refused',
      `The URL for ${url.host} holds a user name or password. Send an authorization header instead.`,
    )
  }
  if (badPorts.has(Number(url.port)) && !egress.isOwn(url.origin)) {
    throw new AnnexError(
      'egress_refused',
      `Port ${url.port} of ${url.hostname} belongs to another protocol than HTTP; the fetch standard blocks it.`,
    )
  }
  return url
}

const clip = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)
