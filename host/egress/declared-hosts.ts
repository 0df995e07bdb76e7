import { AnnexError } from '../errors/annex-error.ts'

/** What limits the hosts that a script may reach, beside the address guard. */
export type DeclaredHosts = {
  integration: string
  /** `egress` of its manifest: `api.example.com`, `*.example.com`, `localhost:3000`. Without it: any host. */
  hosts: readonly string[] | undefined
  /** EGRESS_REQUIRE_DECLARED: without a declaration there is no host at all. */
  isRequired: boolean
  /** Whether an origin is that of Annex's own API, which every script may reach. */
  isOwn: (origin: string) => boolean
}

/**
 * Whether a script may reach a URL, by what its manifest declares. For its first URL and at each redirect: a declared
 * host must not lead to others.
 *
 * @throws AnnexError `egress_refused`, which names the field and what to write there
 */
export function assertDeclared(url: URL, declared: DeclaredHosts): void {
  const { integration, hosts, isRequired } = declared
  if (hosts === undefined && !isRequired) return
  if (hosts?.some((entry) => isMatch(entry, url)) || declared.isOwn(url.origin)) return
  const host = plainName(url.hostname) + (url.port === '' ? '' : `:${url.port}`)
  const why =
    hosts === undefined
      ? 'the operator lets scripts reach only what their manifest declares (EGRESS_REQUIRE_DECLARED), and it declares nothing'
      : 'its manifest declares the hosts that it reaches, and this is none of them'
  throw new AnnexError(
    'egress_refused',
    `${integration} may not reach ${host}: ${why}. Add "${host}" to "egress" in the manifest.`,
    { details: [{ path: 'egress', message: host }] },
  )
}

/** As in a content security policy: without a port it is the usual one of http or https. */
function isMatch(entry: string, url: URL): boolean {
  const [name = '', port] = entry.toLowerCase().split(':')
  const hostname = plainName(url.hostname)
  const isName = name.startsWith('*.') ? hostname.endsWith(name.slice(1)) : hostname === name
  return isName && (port === undefined ? url.port === '' : Number(port) === portOf(url))
}

const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)

/** A last dot says that a name is complete: it is the same host. */
const plainName = (hostname: string): string => hostname.replace(/\.$/, '')
