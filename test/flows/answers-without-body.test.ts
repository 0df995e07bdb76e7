import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, it, type TestContext } from 'node:test'
import { serveRaw } from '../egress/local-server.ts'
import { type Annex, startAnnex } from '../support/annex.ts'

/** Returns the answer of a server, or its own answer with the status and length in the query. */
const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request) => {
  const { searchParams } = new URL(request.url)
  const from = searchParams.get('from')
  if (from === null) {
    const status = Number(searchParams.get('status'))
    return new Response(null, { status, headers: { 'content-length': '5', 'x-own': 'yes' } })
  }
  const answer = await fetch(from, { method: searchParams.get('method') ?? 'GET' })
  if (searchParams.has('pass')) return answer
  const text = await answer.clone().text()
  return Response.json([answer.status, text, answer.body === null, answer.headers.get('content-length')])
} })`

describe('an answer that has no body, and names a length', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ plugins: { passer: { script } } })
  })
  after(() => annex?.close())

  const serve = (t: TestContext, head: string, body: string) =>
    serveRaw(t, (socket) => {
      socket.on('data', () => socket.write(`HTTP/1.1 ${head}\r\n\r\n${body}`))
    })

  /** Two requests over one connection: bytes after the first answer would be taken for the second one. */
  async function askTwice(path: string, method = 'GET'): Promise<string> {
    const { hostname, port, host } = new URL(annex.url)
    const socket = connect(Number(port), hostname)
    const head = `host: ${host}\r\n`
    socket.write(
      `${method} ${path} HTTP/1.1\r\n${head}\r\nGET /healthz HTTP/1.1\r\n${head}connection: close\r\n\r\n`,
    )
    let answers = ''
    for await (const piece of socket) answers += piece
    return answers
  }

  for (const status of [204, 304]) {
    for (const body of ['', 'hello']) {
      it(`reaches the script: ${status}${body && ', with bytes after it'}`, async (t) => {
        const { urlOrigin } = await serve(t, `${status} X\r\ncontent-length: 5`, body)
        for (let time = 0; time < 3; time++) {
          const answer = await fetch(`${annex.url}/x/passer?from=${urlOrigin}`)
          assert.deepEqual(await answer.json(), [status, '', true, '5'])
        }
      })

      it(`reaches the visitor without the length: ${status}${body && ', with bytes after it'}`, async (t) => {
        const { urlOrigin } = await serve(t, `${status} X\r\ncontent-length: 5`, body)
        const answers = await askTwice(`/x/passer?pass&from=${urlOrigin}`)
        assert.match(answers, new RegExp(`^HTTP/1.1 ${status} `))
        const [first = '', second = ''] = answers.split('\r\n\r\n')
        assert.doesNotMatch(first, /content-length|transfer-encoding/i)
        assert.match(second, /^HTTP\/1.1 200 OK\r\n/)
      })
    }

    it(`is sent without the length that the script names: ${status}`, async () => {
      for (const method of ['GET', 'POST', 'HEAD']) {
        const answers = await askTwice(`/x/passer?status=${status}`, method)
        assert.match(answers, new RegExp(`^HTTP/1.1 ${status} [^]*x-own: yes`))
        const [first = '', second = ''] = answers.split('\r\n\r\n')
        assert.doesNotMatch(first, /content-length|transfer-encoding/i, method)
        assert.match(second, /^HTTP\/1.1 200 OK\r\n/, method)
      }
    })
  }

  it('reaches a script that asks with HEAD', async (t) => {
    const { urlOrigin } = await serve(t, '200 OK\r\ncontent-length: 5', '')
    const answer = await fetch(`${annex.url}/x/passer?method=HEAD&from=${urlOrigin}`)
    assert.deepEqual(await answer.json(), [200, '', true, '5'])
  })
})
