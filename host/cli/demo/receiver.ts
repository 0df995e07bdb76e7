import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyWebhook } from '../../webhooks/signature.ts'

/** What the receiver answers, one after the other: down, too busy, well again. */
const answers = [
  { status: 503, headers: {} },
  { status: 429, headers: { 'retry-after': '1' } },
  { status: 200, headers: {} },
] as const

/** One request that came in. */
export type Received = {
  number: number
  status: number
  /** Undefined when the signature holds, else why not. */
  refused: string | undefined
}

export type Receiver = { url: string; close: () => Promise<void> }

/**
 * A receiver as an integrator would write one (spec 4.3): it verifies the signature over the raw body before
 * anything else, and answers 401 when it does not hold.
 *
 * @param given.secret read at each request: it is known only after installing
 */
export async function startReceiver(given: {
  secret: () => string
  onReceived: (received: Received) => void
}): Promise<Receiver> {
  let number = 0
  const server = createServer(async (request, response) => {
    const body = await readRaw(request)
    const header = request.headers['x-service-signature']
    const verified = verifyWebhook(typeof header === 'string' ? header : undefined, body, given.secret(), {
      nowSeconds: Date.now() / 1000,
    })
    number += 1
    const answer = verified.valid ? answers[Math.min(number, answers.length) - 1] : undefined
    const refused = verified.valid ? undefined : verified.reason
    const status = answer?.status ?? 401
    given.onReceived({ number, status, refused })
    send(
      response,
      status,
      answer?.headers ?? {},
      refused === undefined ? { received: true } : { error: refused },
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readRaw(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function send(response: ServerResponse, status: number, headers: Record<string, string>, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}
