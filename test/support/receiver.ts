import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = { atMs: number; headers: IncomingHttpHeaders; body: string }

/** Answers a request: a status, or whatever else a receiver may do. */
export type Answer = number | ((response: ServerResponse) => void)

/**
 * A receiver of webhooks on loopback. It gives its answers in turn, the last one for ever.
 */
export async function startReceiver(...answers: Answer[]): Promise<{
  url: string
  received: Received[]
  /** Settles when that many requests have come. */
  waitFor: (count: number) => Promise<Received[]>
  close: () => Promise<void>
}> {
  const received: Received[] = []
  const waiting: { count: number; resolve: (all: Received[]) => void }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const answer = answers[Math.min(received.length, answers.length - 1)] ?? 200
    received.push({
      atMs: Date.now(),
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    })
    for (const { count, resolve } of waiting) if (received.length >= count) resolve(received)
    if (typeof answer === 'number') response.writeHead(answer).end('{}')
    else answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    waitFor: (count) =>
      received.length >= count
        ? Promise.resolve(received)
        : new Promise((resolve) => waiting.push({ count, resolve })),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
