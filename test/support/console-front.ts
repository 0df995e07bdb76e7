import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pageHeadersFor } from '../../host/console/policy.ts'

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

const ownScript = `document.documentElement.dataset.ran = 'own'`

/**
 * Passes requests on to Annex, and notes what the browser sent. At `/marked?markup=` it answers a page with the headers of the
 * console, and with HTML that a stranger has brought into it.
 */
export async function startFront(annexUrl: string): Promise<Front> {
  const sent: Sent[] = []
  const front = createServer((asked, answer) => {
    const { method = '', url: path = '/', headers } = asked
    const { host = '', cookie = '' } = headers
    const [site = '', destination = ''] = [headers['sec-fetch-site'], headers['sec-fetch-dest']].map(String)
    sent.push({ method, host, path, site, destination, cookie })
    const { pathname, searchParams } = new URL(path, 'http://front')
    const own = { ...pageHeadersFor(asked), 'cache-control': 'no-store' }
    if (pathname === '/marked')
      return void answer.writeHead(200, { ...own, 'content-type': 'text/html' }).end(toPage(searchParams))
    if (pathname === '/assets/marked.js')
      return void answer.writeHead(200, { 'content-type': 'text/javascript' }).end(ownScript)
    const passed = request(annexUrl + path, { method, headers }, (got) => {
      got.pipe(answer.writeHead(got.statusCode ?? 502, got.rawHeaders))
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  const { port } = front.address() as AddressInfo
  const close = () => {
    front.close()
    front.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, sent, close }
}

const toPage = (given: URLSearchParams): string =>
  `<!doctype html><html><head><title>console</title><script src="/assets/marked.js"></script></head><body>${given.get('markup') ?? ''}</body></html>`
