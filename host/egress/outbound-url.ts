import { AnnexError } from '../errors.ts'
import type { Egress } from './egress.ts'

/**
 * Parses the URL of an outbound request and checks it before a connection: http or https, no user name or password, no port
 * of another protocol. The URL parser turns every spelling of an address (`0x7f.1`, `2130706433`, `127.1`) into the plain
 * one that the guard checks.
 *
 * @throws AnnexError `bad_request` for a text that is no URL, `egress_refused` for the rest
 */
export function parseOutboundUrl(text: string, egress: Pick<Egress, 'isOwn'>): URL {
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

/**
 * The ports that the fetch standard blocks (section "Port blocking"): a request body there could be read as commands of
 * another protocol, such as mail.
 */
const badPorts: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])
