import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAnnexError } from '../../host/errors.ts'
import { createReadOrStream } from '../../host/http/body.ts'

const maxBytes = 1000
const readOrStream = createReadOrStream()

describe('the body of a request to a script', () => {
  /** How each body was read, and its text. */
  const taken: string[] = []
  const requests: IncomingMessage[] = []
  const server = createServer(async (request, response) => {
    requests.push(request)
    // The host reads a level before the body.
    await null
    const body = readOrStream(request, maxBytes)
    if (body === request) taken.push('a stream')
    else {
      const read = await (body as Promise<Buffer>).catch((error) => error)
      const how = request.listenerCount('data') === 0 ? 'here' : 'came'
      taken.push(isAnnexError(read) ? read.code : `${how}: ${read}`)
    }
    response.end('ok')
  })
  let port = 0
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  after(() => server.close())

  /** Sends pieces with pauses between them, and waits for the given number of answers. */
  async function send(pieces: string[], answers = 1): Promise<string[]> {
    taken.length = 0
    requests.length = 0
    const socket = connect(port, '127.0.0.1')
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(30_000) })
    let said = ''
    socket.on('data', (chunk) => {
      said += chunk
      if (said.split('HTTP/1.1 200').length > answers) socket.end()
    })
    for (const piece of pieces) {
      socket.write(piece)
      await sleep(30)
    }
    await closed
    return [...taken]
  }

  const post = (length: number | string, rest = '') =>
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${rest}`

  it('is read at once when it arrives with its head', async () => {
    assert.deepEqual(await send([post(5, 'hello')]), ['here: hello'])
    assert.ok(requests.every((request) => request.readableEnded && request.complete))
  })

  it('is awaited when a part is missing', async () => {
    assert.deepEqual(await send([post(5), 'hello']), ['came: hello'])
    assert.deepEqual(await send([post(5, 'hel'), 'lo']), ['came: hello'])
  })

  it('is separate from other requests on its connection', async () => {
    const piece = post(3, 'one') + post(3, 'two') + post(0) + post(5, 'three')
    const came = await send([piece], 4)
    // The request without a body is answered later.
    assert.deepEqual(
      came.filter((body) => body !== 'here: '),
      ['here: one', 'here: two', 'here: three'],
    )
    assert.equal(came.length, 4)
  })

  it('is refused above the limit, and streamed when its length is unknown', async () => {
    assert.deepEqual(await send([post(maxBytes + 1, 'x'.repeat(maxBytes + 1))]), ['body_too_large'])
    const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'
    assert.deepEqual(await send([chunked]), ['a stream'])
  })

  it('is a bad_request when it breaks off', async () => {
    taken.length = 0
    const socket = connect(port, '127.0.0.1')
    socket.write(post(5, 'hel'))
    await sleep(30)
    socket.destroy()
    while (taken.length === 0) await sleep(5)
    assert.deepEqual(taken, ['bad_request'])
  })
})
