import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { openAuthority } from './certificates.ts'
import { serveRaw } from './local-server.ts'

const { authority, sign } = openAuthority(after)
const timeoutMs = 1_000
const stopMs = 2_500

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Sends to a URL, from a process that can be stopped as a whole. */
const sender = `
import { setDefaultCACertificates } from 'node:tls'
import { createEgress } from '${root}host/egress/egress.ts'
import { egressFetch } from '${root}host/egress/fetch.ts'
import { sendAttempt } from '${root}host/webhooks/send-attempt.ts'
const [way, url, ca] = process.argv.slice(1)
if (ca) setDefaultCACertificates([ca])
const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
const egress = createEgress({ allow: ['127.0.0.1'], hopsKey: Buffer.alloc(32), userAgent: 'test', resolve })
const ways = {
  async delivery() {
    const delivery = { id: 'dlv_1', eventId: 'evt_1', url, body: '{}' }
    const { status, responseBody, error } = await sendAttempt(egress, delivery, { current: 'whsec_test' }, { nowMs: 0, timeoutMs: ${timeoutMs} })
    return error ? error.code : [status, responseBody]
  },
  async fetch() {
    const answer = await egressFetch(egress, { method: 'GET', url, headers: [], redirect: 'manual' }, { timeoutMs: ${timeoutMs}, maxBytes: 1_000, hops: 0 })
    return [answer.status, Buffer.from(answer.body).toString()]
  },
}
console.log(JSON.stringify(await ways[way]().catch((error) => error.code)))
await egress.close()
`

type Way = 'delivery' | 'fetch'

/** Starts the sender. @returns its process, and what it says of the answer */
function startSender(t: TestContext, way: Way, url: string, ca = '') {
  const args = ['--input-type=module', '-e', sender, way, url, ca]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  return { child, said: text(child.stdout).then((line) => JSON.parse(line)) }
}

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\ntaken'

/** What a receiver does while its sender is stopped, and after it has gone on. */
type Receiver = { meanwhile?: (socket: Socket) => void; later?: (socket: Socket) => void }

async function stopDuring(
  t: TestContext,
  way: Way,
  { meanwhile, later }: Receiver,
  open: (t: TestContext, onSocket: (socket: Socket) => void) => Promise<{ url: string; ca?: string }>,
): Promise<{ said: unknown; awakeMs: number }> {
  const asked = Promise.withResolvers<Socket>()
  const { url, ca } = await open(t, (socket) => socket.once('data', () => asked.resolve(socket)))
  const { child, said } = startSender(t, way, url, ca)
  const socket = await asked.promise
  child.kill('SIGSTOP')
  await setTimeout(100)
  meanwhile?.(socket)
  await setTimeout(stopMs)
  child.kill('SIGCONT')
  const wokenAt = performance.now()
  if (later !== undefined) void setTimeout(300).then(() => later(socket))
  return { said: await said, awakeMs: performance.now() - wokenAt }
}

const openPlain = async (t: TestContext, onSocket: (socket: Socket) => void) => ({
  url: (await serveRaw(t, onSocket)).urlOrigin,
})

async function openTls(t: TestContext, onSocket: (socket: Socket) => void) {
  const server = createServer(sign('receiver.test'), (socket) => {
    socket.on('error', () => {})
    t.after(() => socket.destroy())
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { url: `https://receiver.test:${(server.address() as { port: number }).port}/`, ca: authority }
}

describe('a host that is paused for longer than a deadline', { concurrency: 4 }, () => {
  for (const way of ['delivery', 'fetch'] as const) {
    it(`accepts an answer that arrived during the pause: ${way}`, async (t) => {
      const meanwhile = (socket: Socket) => void socket.write(answer)
      assert.deepEqual((await stopDuring(t, way, { meanwhile }, openPlain)).said, [200, 'taken'])
    })

    it(`accepts an answer that arrived during the pause over TLS: ${way}`, async (t) => {
      const meanwhile = (socket: Socket) => void socket.write(answer)
      assert.deepEqual((await stopDuring(t, way, { meanwhile }, openTls)).said, [200, 'taken'])
    })

    it(`accepts an answer with its head during the pause and its body later: ${way}`, async (t) => {
      const receiver: Receiver = {
        meanwhile: (socket) => socket.write(answer.slice(0, -5)),
        later: (socket) => socket.write(answer.slice(-5)),
      }
      assert.deepEqual((await stopDuring(t, way, receiver, openPlain)).said, [200, 'taken'])
    })

    it(`gives a request its full time again after the pause: ${way}`, async (t) => {
      const later = (socket: Socket) => void socket.write(answer)
      assert.deepEqual((await stopDuring(t, way, { later }, openPlain)).said, [200, 'taken'])
    })

    it(`gives a silent server one more timeout after the pause: ${way}`, async (t) => {
      const { said, awakeMs } = await stopDuring(t, way, {}, openPlain)
      assert.equal(said, 'egress_timeout')
      assert.ok(awakeMs > timeoutMs - 100 && awakeMs < timeoutMs * 4, `${awakeMs} ms`)
    })
  }
})
