import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { listen } from '../../host/api/listen.ts'

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

it('answers requests that were sent before the stop, although a busy process had not accepted them', async () => {
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
