import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPng } from './create-png.ts'

export type PictureHost = {
  url: string
  asked: { path: string; headers: IncomingHttpHeaders }[]
  close: () => void
}

export const png = Buffer.from(createPng(2, 3))
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

/** Another host with pictures, and with what only seems to be one. */
export async function startPictureHost(picture: Uint8Array = png): Promise<PictureHost> {
  const asked: PictureHost['asked'] = []
  const host = createServer((request, response) => {
    const { url = '', headers } = request
    asked.push({ path: url, headers })
    const image = { 'content-type': 'image/png' }
    const to = new URLSearchParams(url.split('?')[1]).get('to')
    if (url.startsWith('/redirect')) response.writeHead(302, { location: `${to}` }).end()
    else if (url === '/svg') response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(svg)
    else if (url === '/html') response.writeHead(200, image).end('<script>alert(1)</script>')
    else if (url === '/gone') response.writeHead(404, image).end(png)
    else if (url === '/wide') response.writeHead(200, image).end(createPng(60_000, 60_000))
    else if (url === '/large') {
      response.writeHead(200, image).write(png)
      const timer = setInterval(() => response.write(Buffer.alloc(1024 * 1024)), 1)
      response.once('close', () => clearInterval(timer))
    } else response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'a=b' }).end(picture)
  }).listen(0, '127.0.0.1')
  await once(host, 'listening')
  return {
    url: `http://127.0.0.1:${(host.address() as AddressInfo).port}`,
    asked,
    close() {
      host.closeAllConnections()
      host.close()
    },
  }
}
