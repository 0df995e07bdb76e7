import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createReadOrStream } from '../../host/api/body.ts'
import { isAnnexError } from '../../host/errors/annex-error.ts'

const maxBytes = 1000
const readOrStream = createReadOrStream()

describe('the body of a request to a script', () => {
  /** How each body came, and what it was. */
  const taken: string[] = []
  const requests: IncomingMessage[] = []
  const server = createServer(async (request, response) => {
    requests.push(request)
    // As in the host, where a level is read before the body is.
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

  /** Sends pieces with pauses between, and waits for as many answers. */
  async function send(pieces: string[], answers = 1): Promise<string[]> {
    taken.length = 0
    requests.length = 0
    const socket = connect(port, '127.0.0.1')
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(10_000) })
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

  it('is there at once when it came with its head, and its request comes to its end', async () => {
    assert.deepEqual(await send([post(5, 'hello')]), ['here: hello'])
    assert.ok(requests.every((request) => request.readableEnded && request.complete))
  })

  it('is waited for when it has not come yet, or not all of it', async () => {
    assert.deepEqual(await send([post(5), 'hello']), ['came: hello'])
    assert.deepEqual(await send([post(5, 'hel'), 'lo']), ['came: hello'])
  })

  it('is the one of its request, where requests follow each other in one piece', async () => {
    const piece = post(3, 'one') + post(3, 'two') + post(0) + post(5, 'three')
    const came = await send([piece], 4)
    // One without a body is answered a little later.
    assert.deepEqual(
      came.filter((body) => body !== 'here: '),
      ['here: one', 'here: two', 'here: three'],
    )
    assert.equal(came.length, 4)
  })

  it('is no longer than it may be', async () => {
    assert.deepEqual(await send([post(maxBytes + 1, 'x'.repeat(maxBytes + 1))]), ['body_too_large'])
    const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'
    assert.deepEqual(await send([chunked]), ['a stream'])
  })

  it('that breaks off is the visitor’s mistake', async () => {
    taken.length = 0
    const socket = connect(port, '127.0.0.1')
    socket.write(post(5, 'hel'))
    await sleep(30)
    socket.destroy()
    while (taken.length === 0) await sleep(5)
    assert.deepEqual(taken, ['bad_request'])
  })
})
