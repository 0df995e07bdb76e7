/** A header of a script's answer that no visitor gets. A `*` at the end stands for any ending. */
type DroppedHeader = { name: string; reason: string }

/** An answer speaks for its own endpoint: none of these would. docs/api.md is made of the table. */
export const droppedHeaders: readonly DroppedHeader[] = [
  { name: 'X-Accel-*', reason: 'Has nginx send another file or address, or change how it buffers.' },
  { name: 'X-Sendfile*', reason: 'Has Apache, lighttpd and others send a file of their machine.' },
  { name: 'X-Lighttpd-*', reason: 'Has lighttpd send a file of its machine.' },
  { name: 'X-Reproxy-*', reason: 'Has H2O and Perlbal send the answer of another address.' },
  { name: 'X-LiteSpeed-*', reason: 'Has LiteSpeed send another address, or empty its cache.' },
  { name: 'X-Envoy-*', reason: 'Has Envoy take this host for overloaded or failed.' },
  { name: 'Accept-CH', reason: 'Has a browser send more about itself to the whole origin.' },
  { name: 'Accept-CH-Lifetime', reason: 'Keeps what `Accept-CH` asks for.' },
  { name: 'Critical-CH', reason: 'Has a browser repeat its request with what `Accept-CH` asks for.' },
  { name: 'Secure-Session-*', reason: 'Binds a session of the whole origin to a device.' },
  { name: 'Sec-Session-*', reason: 'Is the older name of `Secure-Session-*`.' },
  { name: 'Use-As-Dictionary', reason: 'Has later answers of other paths decompressed with this one.' },
  { name: 'Set-Login', reason: 'Says for the whole origin whether its user is logged in.' },
  { name: 'IdP-SignIn-Status', reason: 'Is the older name of `Set-Login`.' },
  { name: 'Service-Worker-Allowed', reason: 'Lets a service worker answer for other paths.' },
  { name: 'Clear-Site-Data', reason: 'Deletes what a browser keeps of the whole origin.' },
  { name: 'NEL', reason: 'Has a browser report requests to the whole host.' },
  { name: 'Report-To', reason: 'Says for the whole origin where reports go.' },
  {
    name: 'Reporting-Endpoints',
    reason: 'Says where a browser sends its reports, visited addresses included.',
  },
  { name: 'Alt-Svc', reason: 'Sends later requests to the whole origin to another host or port.' },
  { name: 'Strict-Transport-Security', reason: 'Makes a browser refuse HTTP for the whole host.' },
  { name: 'Expect-CT', reason: 'Sets a rule about certificates for the whole host.' },
  { name: 'Public-Key-Pins*', reason: 'Makes a browser refuse other certificates of the whole host.' },
  { name: 'Origin-Agent-Cluster', reason: 'Decides for the whole origin how a browser isolates it.' },
  { name: 'Content-Length', reason: 'Is counted by Annex.' },
  { name: 'X-Content-Type-Options', reason: 'Is set by Annex.' },
  { name: 'X-Request-Id', reason: 'Is set by Annex.' },
]

const patterns = droppedHeaders.map(({ name }) => name.toLowerCase())
const names: ReadonlySet<string> = new Set(patterns.filter((name) => !name.endsWith('*')))
const beginnings = patterns.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))

/** @param name in lower case */
export const isDropped = (name: string): boolean =>
  names.has(name) || beginnings.some((beginning) => name.startsWith(beginning))
