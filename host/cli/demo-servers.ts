import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadSettings } from '../config/load-settings.ts'
import { startServer } from '../server.ts'
import { verifyWebhook } from '../webhooks/signature.ts'
import { type Api, createApi } from './client.ts'

export type DemoServer = {
  api: Api
  url: string
  site: string
  organization: string
  close: () => Promise<void>
}

const pluginsDir = fileURLToPath(new URL('../../plugins', import.meta.url))

/**
 * Starts Annex on a free port of loopback, with the plugins of this repository. Its data folder is removed at its end.
 * It ignores the settings of the machine, so that it uses no other database.
 */
export async function startDemoServer(): Promise<DemoServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'annex-demo-'))
  const remove = () => rm(dataDir, { recursive: true, force: true })
  const flags = {
    DATA_DIR: dataDir,
    PLUGINS_DIR: pluginsDir,
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'silent',
    // The receiver is on loopback, which the egress guard blocks by default.
    EGRESS_ALLOW: '127.0.0.1',
  }
  try {
    const loaded = loadSettings({ flags, environment: {}, envFile: join(dataDir, 'none') })
    const server = await startServer(loaded)
    const token = (await readFile(join(dataDir, 'cli.token'), 'utf8')).trim()
    return {
      api: createApi({ url: server.url, token }),
      url: server.url,
      ...server.samples,
      close: () => server.close().finally(remove),
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The receiver's answers, one after the other: down, too busy, well. */
const answers = [
  { status: 503, headers: {} },
  { status: 429, headers: { 'retry-after': '1' } },
  { status: 200, headers: {} },
] as const

/** A request that the receiver got. */
export type Received = {
  number: number
  status: number
  /** Why the signature is invalid. */
  refused: string | undefined
}

/**
 * Starts a receiver as an integrator writes one: it verifies the signature of the raw body before anything else, and
 * answers 401 to an invalid one.
 *
 * @param given.secret read at each request: the secret is known only after installing
 */
export async function startDemoReceiver(given: {
  secret: () => string
  onReceived: (received: Received) => void
}): Promise<{ url: string; close: () => Promise<void> }> {
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
