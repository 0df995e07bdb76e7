import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import Koa from 'koa'
import { sendAnswer } from '../../host/endpoints/send-answer.ts'
import { answerErrors, identifyRequests } from '../../host/http/errors.ts'
import type { AnswerHead } from '../../runtime/bridge.ts'
import type { Json } from '../support/annex.ts'

describe('answers', () => {
  it('reports a body that cannot become JSON as a defect, with a JSON error', async (t) => {
    const defects: unknown[] = []
    const app = new Koa()
    app.use(identifyRequests).use(answerErrors((error) => defects.push(error)))
    app.use((context) => {
      context.body = context.path === '/broken' ? { items: [1n] } : { items: [] }
    })
    const server = app.listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const response = await fetch(`${url}/broken`, { headers: { connection: 'close' } })
    assert.equal(response.status, 500)
    assert.match(response.headers.get('content-type') ?? '', /json/)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(((await response.json()) as Json).error.code, 'internal')
    assert.equal(defects.length, 1)
    const fine = await fetch(url, { headers: { connection: 'close' } })
    assert.deepEqual([fine.status, await fine.json()], [200, { items: [] }])
  })

  describe('answers of a script', () => {
    let given: AnswerHead & { body?: string | Readable } = { status: 200, headers: [] }
    let url = ''
    const app = new Koa().use(identifyRequests).use(answerErrors(() => {}))
    app.use((context) => {
      const { body = '', ...head } = given
      const { requestId } = context.state
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      sendAnswer(context.res, {
        head,
        body: bytes,
        level: { kind: 'integration', integration: 'a' },
        requestId,
      })
      context.respond = false
    })
    const server = app.listen(0, '127.0.0.1')
    before(async () => {
      if (!server.listening) await once(server, 'listening')
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    })
    after(() => server.close().closeAllConnections())
    const answer = (head: typeof given, init?: RequestInit) => {
      given = head
      return fetch(url, init)
    }

    for (const status of [200, 204, 304]) {
      it(`answers script_failed for a head that HTTP cannot carry: ${status}`, async () => {
        const wrong: Partial<AnswerHead>[] = [
          { statusText: 'a\r\nb' },
          { statusText: 'a\u0100' },
          { headers: [['not a name', 'x']] },
          {
            headers: [
              ['x-fine', 'x'],
              ['x-split', 'a\r\nset-cookie: b'],
            ],
          },
          { statusText: '', headers: [['x-wide', '\u0100']] },
        ]
        for (const head of wrong) {
          const response = await answer({ status, headers: [], ...head })
          assert.equal(response.status, 500)
          assert.equal(response.statusText, 'Internal Server Error')
          assert.equal(response.headers.get('x-fine'), null)
          const { error }: Json = await response.json()
          assert.equal(error.code, 'script_failed')
          assert.match(error.message, /cannot be sent/)
          assert.equal(response.headers.get('x-request-id'), error.requestId)
        }
      })
    }

    it('sends the status text and all headers in order, repeated ones too, and adds none', async () => {
      const headers: [string, string][] = [
        ['x-fine', 'yes'],
        ['link', '</a>'],
        ['link', '</b>'],
        ['content-length', '1'],
        ['x-latin', '\u00e9'],
      ]
      const response = await answer({ status: 299, statusText: 'Fine', headers, body: 'text' })
      assert.deepEqual([response.status, response.statusText], [299, 'Fine'])
      assert.equal(response.headers.get('link'), '</a>, </b>')
      assert.equal(response.headers.get('content-length'), '4')
      assert.equal(response.headers.get('x-latin'), '\u00e9')
      assert.equal(response.headers.get('content-type'), null)
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
      assert.equal(await response.text(), 'text')
    })

    it('sends small and large bodies byte for byte, and no body with 204 and 304', async () => {
      for (const body of ['', 'é\u{1f600}\0', 'é'.repeat(4096), 'é'.repeat(4097), 'x'.repeat(1_000_000)]) {
        const response = await answer({ status: 200, headers: [], body })
        assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(body)))
        assert.equal(await response.text(), body)
      }
      for (const status of [204, 304]) {
        const response = await answer({ status, headers: [], body: 'none of it' })
        assert.deepEqual([response.status, response.headers.get('content-length')], [status, null])
        assert.equal(await response.text(), '')
      }
      const response = await answer({ status: 200, headers: [], body: 'text' }, { method: 'HEAD' })
      assert.equal(response.headers.get('content-length'), '4')
      assert.equal(await response.text(), '')
    })

    it('answers HEAD with the length of the body, or else with the declared length', async () => {
      const said: [string, string][] = [['content-length', '123456']]
      const cases: [given: typeof given, length: string | null][] = [
        [{ status: 200, headers: said }, '123456'],
        [{ status: 200, headers: [] }, null],
        [{ status: 200, headers: said, body: 'text' }, '4'],
        [{ status: 200, headers: said, body: new PassThrough() }, '123456'],
        [{ status: 200, headers: [], body: new PassThrough() }, null],
        [{ status: 200, headers: [], length: 7, body: new PassThrough() }, '7'],
        [{ status: 404, headers: [['content-length', '1e3']] }, null],
        [{ status: 200, headers: [['content-length', '5, 5']] }, null],
        [{ status: 304, headers: said }, null],
      ]
      for (const [head, length] of cases) {
        const response = await answer(head, { method: 'HEAD' })
        assert.deepEqual([response.status, response.headers.get('content-length')], [head.status, length])
        assert.equal(response.headers.get('transfer-encoding'), null)
        // The connection has no leftover bytes: the next answer is read whole.
        assert.equal(await (await answer({ status: 200, headers: [], body: 'next' })).text(), 'next')
      }
      const empty = await answer({ status: 200, headers: said })
      assert.deepEqual([empty.headers.get('content-length'), await empty.text()], ['0', ''])
    })

    it('sends the head of a stream at once, and each chunk when it arrives', async () => {
      const body = new PassThrough()
      const response = await answer({ status: 200, headers: [['x-fine', 'yes']], body })
      assert.equal(response.headers.get('x-fine'), 'yes')
      assert.equal(response.headers.get('content-length'), null)
      body.write('one ')
      const reader = response.body?.getReader()
      assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'one ')
      body.end('two')
      assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'two')
      assert.equal((await reader?.read())?.done, true)
    })

    it('closes the connection when a stream breaks off', async () => {
      const body = new PassThrough()
      const response = await answer({ status: 200, headers: [], body })
      body.write('one ')
      setTimeout(() => body.destroy(new Error('the script has ended')), 20)
      await assert.rejects(response.text())
    })

    it('cuts a stream at its declared length, so that no byte starts the next answer', async () => {
      for (const [length, parts, isWhole] of [
        [6, ['abc', 'def'], true],
        [3, ['abc', 'def'], false],
        [5, ['abc', 'def'], false],
        [9, ['abc', 'def'], false],
      ] as [number, string[], boolean][]) {
        given = {
          status: 200,
          headers: [],
          length,
          body: Readable.from(parts.map((part) => Buffer.from(part))),
        }
        const socket = connect(Number(new URL(url).port), '127.0.0.1')
        let said = ''
        socket.on('data', (chunk: Buffer) => {
          said += chunk
        })
        socket.write(`GET / HTTP/1.1\r\nHost: a\r\n${isWhole ? 'Connection: close\r\n' : ''}\r\n`)
        await once(socket, 'close', { signal: AbortSignal.timeout(30_000) })
        const body = said.split('\r\n\r\n')[1] ?? ''
        assert.match(said, new RegExp(`content-length: ${length}\r\n`))
        assert.ok(isWhole ? body === 'abcdef' : body.length <= length, body)
      }
    })

    it('destroys a stream that it does not send: visitor gone, HEAD, 204, refused head', async () => {
      const gone = new PassThrough()
      const controller = new AbortController()
      await answer({ status: 200, headers: [], body: gone }, { signal: controller.signal })
      controller.abort()
      const asked = new PassThrough()
      await answer({ status: 200, headers: [], body: asked }, { method: 'HEAD' })
      const none = new PassThrough()
      await answer({ status: 204, headers: [], body: none })
      const broken = new PassThrough()
      await answer({ status: 200, headers: [['x', 'a\r\nb']], body: broken })
      for (const body of [gone, asked, none, broken]) {
        if (!body.destroyed) await once(body, 'close')
        assert.equal(body.destroyed, true)
      }
    })
  })
})
