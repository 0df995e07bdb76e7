import { AnnexError } from '../errors.ts'

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
