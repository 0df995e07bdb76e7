import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type EgressRequest, egressFetch } from '../../host/egress/fetch.ts'
import { flood, whenAsked } from '../webhooks/receivers.ts'
import { bytesOf, openEgress, serve, serveRaw } from './local-server.ts'

const limits = { timeoutMs: 4_000, maxBytes: 50_000_000, hops: 0 }
const toRequest = (url: string): EgressRequest => ({ method: 'GET', url, headers: [], redirect: 'follow' })
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const piece = 'y'.repeat(16_384)

/** More than the kernel buffers for a connection, and far less than a flood sends before the deadline. */
const bound = 24_000_000

const floods: [what: string, first: string, rest: string][] = [
  ['a reason phrase', 'HTTP/1.1 200 ', piece],
  ['interim answers', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(500)],
  ['the extension of a chunk', `${chunked}5;x=`, piece],
  ['the extensions of chunks of a byte', chunked, `1;x=${piece.slice(1_000)}\r\ny\r\n`],
]

describe('an endless answer is cut at the limit', () => {
  for (const [what, first, rest] of floods) {
    it(`when it sends ${what}`, async (t) => {
      let socket: Socket | undefined
      const { urlOrigin } = await serveRaw(t, (opened) => {
        socket = opened
        whenAsked(() => opened.write(first, () => flood(opened, rest)))(opened)
      })
      const egress = openEgress(t)
      const reading = egressFetch(egress, toRequest(urlOrigin), limits).then(bytesOf)
      await assert.rejects(Promise.race([reading, setTimeout(8_000, undefined, { ref: false })]), {
        code: 'egress_too_large',
        message: /^GET \S+ was broken off: more than \d+ bytes came beside the \d+ of its body/,
      })
      assert.ok(socket !== undefined)
      const sent = socket.bytesWritten - socket.writableLength
      assert.ok(sent < bound, `${sent} bytes`)
    })
  }
})

describe('an answer in many small pieces', () => {
  it('is read whole, even by a slow reader', async (t) => {
    const { urlOrigin } = await serve(t, async (_request, response) => {
      for (let n = 0; n < 100_000; n += 1) {
        if (!response.write('a')) await new Promise((resolve) => response.once('drain', resolve))
      }
      response.end()
    })
    const { body } = await egressFetch(openEgress(t), toRequest(urlOrigin), limits)
    assert.ok(!(body instanceof Uint8Array))
    await setTimeout(200)
    assert.equal((await bytesOf({ body })).length, 100_000)
  })

  it('is read whole when megabytes wait for a slow reader', async (t) => {
    const { urlOrigin } = await serve(t, (_request, response) => void response.end(Buffer.alloc(20_000_000)))
    const { body } = await egressFetch(openEgress(t), toRequest(urlOrigin), limits)
    assert.ok(!(body instanceof Uint8Array))
    let length = 0
    for await (const chunk of body) {
      if (length < 1_000_000) await setTimeout(10)
      length += chunk.length
    }
    assert.equal(length, 20_000_000)
  })
})
