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

/** Limits the hosts that a script may reach, in addition to the guard. */
export type DeclaredHosts = {
  integration: string
  /** `egress` of its manifest: `api.example.com`, `*.example.com`, `localhost:3000`. Without it: any host. */
  hosts: readonly string[] | undefined
  /** EGRESS_REQUIRE_DECLARED: a manifest without `egress` allows no host at all. */
  isRequired: boolean
  /** True for the URL origin of Annex's API, which every script may reach. */
  isOwn: (urlOrigin: string) => boolean
}

/**
 * Refuses a URL that the manifest of a script does not declare. It is called for the first URL and for each redirect, as a
 * declared host must not lead to others.
 *
 * @throws AnnexError `egress_refused`, which names the field and the missing entry
 */
export function assertDeclared(url: URL, declared: DeclaredHosts): void {
  const { integration, hosts, isRequired } = declared
  if (hosts === undefined && !isRequired) return
  if (isDeclared(url, hosts) || declared.isOwn(url.origin)) return
  const host = nameOfHost(url)
  const why =
    hosts === undefined
      ? 'the operator lets an integration reach only the hosts that its manifest declares (EGRESS_REQUIRE_DECLARED), and it declares nothing'
      : 'its manifest declares the hosts that it reaches, and this host is not among them'
  throw new AnnexError(
    'egress_refused',
    `${integration} may not reach ${host}: ${why}. Add "${host}" to "egress" in the manifest.`,
    { details: [{ path: '/egress', message: host }] },
  )
}

/** A host with its port, as an entry of `egress` names it. */
export const nameOfHost = ({ hostname, port }: Pick<URL, 'hostname' | 'port'>): string =>
  withoutLastDot(hostname) + (port === '' ? '' : `:${port}`)

/** True when an entry of `egress` stands for the host and port of a URL. */
export const isDeclared = (url: URL, hosts: readonly string[] = []): boolean =>
  hosts.some((entry) => {
    const [name = '', port = ''] = entry.toLowerCase().split(':')
    if (name.startsWith('*.'))
      return withoutLastDot(url.hostname).endsWith(name.slice(1)) && isPort(port, url)
    return isSameHost({ hostname: name, port }, url)
  })

/** True when both have one host name and one port, whatever case and last dot they are written with. */
export const isSameHost = ({ hostname, port }: Pick<URL, 'hostname' | 'port'>, url: URL): boolean =>
  withoutLastDot(hostname) === withoutLastDot(url.hostname) && isPort(port, url)

/** As in a content security policy, no port stands for the default port of http or https. */
const isPort = (port: string, url: URL): boolean =>
  port === '' ? url.port === '' : Number(port) === portOf(url)

const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)

/** A last dot says that a name is complete: it is the same host. */
const withoutLastDot = (hostname: string): string => hostname.replace(/\.$/, '')
