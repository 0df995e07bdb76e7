import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { readBody } from '../../host/http/body.ts'
import { listen } from '../../host/http/listen.ts'
import { until } from '../support/annex.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`

/** Sends a request over each of 20 new connections, sets `sent`, and reports the answers when all are closed. */
const visitors = `
const { connect } = require('node:net')
const { parentPort, workerData: { port, request, sent } } = require('node:worker_threads')
const answers = []
let written = 0
for (let n = 0; n < 20; n++) {
  let got = ''
  const socket = connect(port, '127.0.0.1', () => socket.write(request, () => {
    written += 1
    if (written === 20) { Atomics.store(sent, 0, 1); Atomics.notify(sent, 0) }
  }))
  socket.on('data', (chunk) => { got += chunk })
  socket.on('error', (error) => { got = error.code })
  socket.on('close', () => { if (answers.push(got.split('\\r\\n')[0]) === 20) parentPort.postMessage(answers) })
}`

it('answers requests that were sent before the stop, also in a busy process', async () => {
  const listening = await listen((_, response) => response.end('ok'), '127.0.0.1', 0)
  const sent = new Int32Array(new SharedArrayBuffer(4))
  const workerData = { port: listening.port, request: get('/'), sent }
  const worker = new Worker(visitors, { eval: true, workerData })
  const answers = once(worker, 'message')
  // This thread is busy until all are sent: no connection is accepted yet.
  Atomics.wait(sent, 0, 0)
  await listening.close()
  assert.deepEqual((await answers)[0], Array(20).fill('HTTP/1.1 200 OK'))
})

it('ends each kept connection with its next answer after the stop', async () => {
  const held = Promise.withResolvers<ServerResponse>()
  const handle: RequestListener = ({ url }, response) => {
    if (url === '/held') held.resolve(response)
    else response.end('ok\n')
  }
  const listening = await listen(handle, '127.0.0.1', 0)
  const [ran, kept] = [connect(listening.port, '127.0.0.1'), connect(listening.port, '127.0.0.1')]
  const [ranText, keptText] = [text(ran), text(kept)]
  kept.write(get('/'))
  await once(kept, 'data')
  ran.write(get('/held'))
  const answer = await held.promise

  // Sent before the stop, and read after it.
  kept.write(get('/'))
  const closed = listening.close()
  const keptAnswers = await keptText
  answer.end('ok')
  const lines = [keptAnswers, await ranText].map((answers) => answers.match(/^(HTTP|connection).*/gim))
  const [line, goesOn, ends] = ['HTTP/1.1 200 OK', 'Connection: keep-alive', 'Connection: close']
  assert.deepEqual(lines, [
    [line, goesOn, line, ends],
    [line, ends],
  ])
  await closed
})

const ok: RequestListener = (_, response) => response.end('ok')

/** @returns the first line of the answer; empty for a connection that was closed without one */
async function ask(socket: Socket): Promise<string> {
  let got = ''
  socket
    .on('error', () => {})
    .on('data', (chunk) => {
      got += chunk
    })
  socket.write(get('/'))
  await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => {})
  return got.split('\r\n')[0] ?? ''
}

const most = 1_024

it('closes extra connections of one address, serves other addresses, and logs that once', async () => {
  const told: string[] = []
  const onHeld = (held: string, { address }: { address: string }) => void told.push(`${held} ${address}`)
  const listening = await listen(ok, '127.0.0.1', 0, undefined, { isBehindProxy: false, onHeld })
  const held: Socket[] = []
  // In parts that fit the queue of connections that are not accepted yet: the system lets more come later.
  while (held.length < most) {
    const part = Array.from({ length: 128 }, () => connect(listening.port, '127.0.0.1').on('error', () => {}))
    await Promise.all(part.map((socket) => once(socket, 'connect')))
    held.push(...part)
  }
  assert.equal(await ask(held.at(-1) as Socket), 'HTTP/1.1 200 OK')
  const more = () => ask(connect(listening.port, '127.0.0.1'))
  assert.deepEqual(await Promise.all([more(), more(), more()]), ['', '', ''])
  const other = connect({ port: listening.port, host: '127.0.0.1', localAddress: '127.0.0.2' })
  assert.equal(await ask(other), 'HTTP/1.1 200 OK')
  assert.deepEqual(told, ['connections 127.0.0.1'])
  held.pop()?.destroy()
  await until(more, (line) => line === 'HTTP/1.1 200 OK')
  for (const socket of [...held, other]) socket.destroy()
  await listening.close()
})

it('lets a trusted proxy hold connections of many visitors', async () => {
  const listening = await listen(ok, '127.0.0.1', 0, undefined, { isBehindProxy: true })
  const sockets = Array.from({ length: most + 50 }, () => connect(listening.port, '127.0.0.1'))
  const lines = await Promise.all(sockets.map(ask))
  assert.deepEqual([...new Set(lines)], ['HTTP/1.1 200 OK'])
  for (const socket of sockets) socket.destroy()
  await listening.close()
})

describe('a body that pauses', () => {
  const told: string[] = []
  const failed: string[] = []
  const slow = Promise.withResolvers<void>()
  const handle: RequestListener = async (request, response) => {
    if (request.url === '/answers') response.write('begun')
    if (request.url === '/reads-late') await slow.promise
    await readBody(request, 1_000_000).catch(({ code }) => failed.push(code))
    if (request.url === '/works') await sleep(4_000)
    response.end('ok')
  }
  let port = 0
  let close = async () => {}
  before(async () => {
    const onHeld = (held: string) => void told.push(held)
    const guarded = { isBehindProxy: true, onHeld, pauseMs: 1_000 }
    ;({ port, close } = await listen(handle, '127.0.0.1', 0, undefined, guarded))
  })
  after(() => close())

  const open = (path: string, head: string, ...parts: string[]) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\n${head}\r\n\r\n${parts.join('')}`)
    return { socket, all: text(socket).catch(() => 'reset') }
  }

  for (const [name, head, part] of [
    ['of a length', 'content-length: 10', '12345'],
    ['of a length, before its first byte', 'content-length: 10', ''],
    ['in chunks', 'transfer-encoding: chunked', '5\r\n12345\r\n'],
    ['in the middle of a chunk', 'transfer-encoding: chunked', '5\r\n123'],
    ['before the end of its chunks', 'transfer-encoding: chunked', '5\r\n12345\r\n0\r\n'],
    ['after 100 Continue', 'expect: 100-continue\r\ncontent-length: 10', ''],
  ] as const) {
    it(`is answered with 408 and closed: ${name}`, async () => {
      const answer = await open('/', head, part).all
      assert.match(answer, /^(HTTP\/1.1 100 Continue\r\n\r\n)?HTTP\/1.1 408 /)
    })
  }

  it('is closed if the answer has begun', async () => {
    assert.match(await open('/answers', 'content-length: 10', '12').all, /^(HTTP\/1.1 200 OK|reset)/)
  })

  it('is reported once, and its reader ends', () => {
    assert.deepEqual(told, ['body_pause'])
    assert.deepEqual([...new Set(failed)], ['bad_request'])
  })

  it('does not count while bytes arrive, the host reads late, or the host works', async () => {
    const trickle = open('/', 'connection: close\r\ncontent-length: 10')
    const late = open('/reads-late', 'connection: close\r\ncontent-length: 900000', 'x'.repeat(500_000))
    const works = open('/works', 'connection: close\r\ncontent-length: 2', 'ab')
    const idle = open('/', 'content-length: 2', 'ab')
    for (let n = 0; n < 10; n += 1) {
      trickle.socket.write('x')
      await sleep(400)
    }
    slow.resolve()
    late.socket.write('x'.repeat(400_000))
    for (const { all } of [trickle, late, works]) assert.match(await all, /^HTTP\/1.1 200 OK/)
    assert.equal(idle.socket.closed, false)
    idle.socket.destroy()
    assert.deepEqual(told, ['body_pause'])
  })
})
