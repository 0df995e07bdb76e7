import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The policy of the console's pages. */
export const consolePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self' https:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

export const session = 'SESSION-OF-A-PERSON'

/** A request as the browser has sent it. */
export type Sent = {
  method: string
  host: string
  path: string
  site: string
  destination: string
  cookie: string
}

export type Front = { url: string; sent: Sent[]; close: () => void }

/** Notes all that reaches the page from outside. */
const ownScript = `
const heard = (what) => { document.documentElement.dataset.heard = (document.documentElement.dataset.heard ?? '') + what }
addEventListener('message', () => heard('message '))
addEventListener('storage', () => heard('storage '))
new BroadcastChannel('annex').onmessage = () => heard('channel ')
localStorage.setItem('kept', 'by the console')
`

/**
 * Passes requests on to Annex, and notes what the browser sent. Below `/orgs/` it answers a page as the console does, with its
 * headers and its cookie, and with `?markup=`: HTML that a stranger has brought into the page.
 */
export async function startFront(annexUrl: string): Promise<Front> {
  const sent: Sent[] = []
  const front = createServer((asked, answer) => {
    const { method = '', url: path = '/', headers } = asked
    const cookie = headers.cookie ?? ''
    const [site, destination] = [headers['sec-fetch-site'], headers['sec-fetch-dest']].map(String)
    sent.push({
      method,
      host: headers.host ?? '',
      path,
      site: site ?? '',
      destination: destination ?? '',
      cookie,
    })
    const { pathname, searchParams } = new URL(path, 'http://front')
    if (pathname.startsWith('/orgs/'))
      return void answer.writeHead(200, consoleHeaders).end(toPage(searchParams))
    if (pathname === '/assets/own.js')
      return void answer.writeHead(200, { 'content-type': 'text/javascript' }).end(ownScript)
    const passed = request(annexUrl + path, { method, headers }, (got) => {
      got.pipe(answer.writeHead(got.statusCode ?? 502, got.rawHeaders))
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  const { port } = front.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, sent, close: () => void front.close() }
}

const consoleHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': consolePolicy,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'set-cookie': `__Host-annex_session_8787=${session}; Path=/; Secure; HttpOnly; SameSite=Strict; Priority=High`,
}

const toPage = (given: URLSearchParams): string =>
  `<!doctype html><html><head><title>console</title><script src="/assets/own.js"></script></head><body>${given.get('markup') ?? ''}</body></html>`
