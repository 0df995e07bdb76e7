import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the scripts of a soak reach over the network. */
export type SoakReceiver = {
  url: string
  /** `eventId` of each delivery that has come. */
  delivered: Set<string>
  close: () => void
}

export async function startSoakReceiver(): Promise<SoakReceiver> {
  const delivered = new Set<string>()
  const server = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://receiver')
    switch (pathname) {
      case '/echo':
        return response.end(search.slice(1))
      case '/never':
        return
      case '/big': {
        const chunk = Buffer.alloc(256 * 1024)
        const write = () => {
          while (!response.destroyed && response.write(chunk));
        }
        response.on('drain', write)
        return write()
      }
      case '/hook': {
        const chunks: Buffer[] = []
        for await (const part of request) chunks.push(part)
        delivered.add(JSON.parse(Buffer.concat(chunks).toString()).eventId)
        return response.end('{}')
      }
      default:
        return response.end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delivered,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
