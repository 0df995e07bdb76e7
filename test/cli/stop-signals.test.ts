import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/annex.ts'
import { type Served, startServe } from './support/start-serve.ts'

/** A request that is under way until its last byte is written: an ordered stop waits for it, for 10 s at most. */
async function beginRequest(served: Served): Promise<Socket> {
  const socket = connect(Number(new URL(served.url).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write('POST /v1/setup HTTP/1.1\r\nHost: annex\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n')
  const [goOn] = await once(socket, 'data')
  assert.match(String(goOn), /^HTTP\/1\.1 100 /)
  socket.write('{')
  return socket
}

const isListening = (served: Served): Promise<boolean> =>
  fetch(`${served.url}/healthz`).then(
    () => true,
    () => false,
  )

test('a doubled Ctrl+C, from the terminal and from npm, stops serve in order', async (context) => {
  const served = await startServe()
  context.after(served.close)
  const socket = await beginRequest(served)
  const stopped = served.stop('SIGINT')
  await sleep(50)
  const again = served.stop('SIGINT')
  await sleep(300)
  socket.write('}')
  const [answer] = await once(socket, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 422 /)
  socket.destroy()
  assert.equal((await stopped).code, 130)
  assert.equal((await again).code, 130)
  assert.ok(!(await readdir(served.dataDir)).includes('server.json'))
})

test('a second signal ends serve at once during a request', async (context) => {
  const served = await startServe()
  context.after(served.close)
  const socket = await beginRequest(served)
  context.after(() => socket.destroy())
  const stopped = served.stop('SIGTERM')
  // Since when the first signal counts, the server takes no connections. Within half a second a second one is the same key press.
  await until(
    () => isListening(served),
    (listens) => !listens,
  )
  await sleep(1_000)
  const { code } = await Promise.race([served.stop('SIGINT'), stopped])
  assert.equal(code, 130)
})

test('SIGHUP of a closed terminal stops serve in order', async (context) => {
  const served = await startServe()
  context.after(served.close)
  const socket = await beginRequest(served)
  const stopped = served.stop('SIGHUP')
  await sleep(300)
  socket.write('}')
  const [answer] = await once(socket, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 422 /)
  socket.destroy()
  assert.equal((await stopped).code, 129)
  assert.ok(!(await readdir(served.dataDir)).includes('server.json'))
})
