import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'

const script = (upstream: string) => `
import { createIntegration } from '@annex/runtime'
const text = (size) => 'é'.repeat(size / 2)
const bytes = (size) => new Uint8Array(size).map((_none, at) => at)
const bodies = {
  text,
  bytes,
  buffer: (size) => bytes(size).buffer,
  view: (size) => new DataView(bytes(size + 20).buffer, 10, size),
  blob: (size) => new Blob([bytes(size)], { type: 'a/b' }),
  parameters: (size) => new URLSearchParams({ a: 'x'.repeat(size) }),
  form: (size) => { const form = new FormData(); form.set('a', new Blob([bytes(size)])); return form },
  stream: (size) => new Blob([bytes(size)]).stream(),
  generator: async function* (size) { yield bytes(size) },
}
export default createIntegration({ fetch: async (request) => {
  const { way, kind, size, method, looked } = await request.json()
  const sent = new Request('${upstream}/' + way, { method, body: bodies[kind](size), headers: { authorization: 'x' } })
  if (looked && sent.body === null) throw new Error('no body')
  const answer = await fetch(sent).catch((error) => error)
  if (answer instanceof Error) return Response.json({ failed: answer.message })
  return Response.json({ ...await answer.json(), url: answer.url, redirected: answer.redirected, bodyUsed: sent.bodyUsed })
} })`

describe('a redirect that keeps the body', () => {
  let annex: Annex
  let url: string
  const seen: { path: string; hash: string }[] = []
  const upstream = createServer(async (request, response) => {
    const [, way = '', status = ''] = /^\/(\w+?)(\d*)$/.exec(request.url ?? '') ?? []
    // Answers before it has read: a server may.
    if (way === 'early') return response.writeHead(Number(status), { location: '/end' }).end()
    const hash = createHash('sha256')
    let size = 0
    for await (const chunk of request) {
      size += chunk.length
      hash.update(chunk)
    }
    const digest = hash.digest('hex')
    seen.push({ path: request.url ?? '', hash: digest })
    if (way === 'end') {
      const { 'content-type': type, 'content-length': length, authorization } = request.headers
      return response.end(JSON.stringify({ method: request.method, size, type, length, authorization }))
    }
    const location = way === 'twice' ? `/first${status}` : way === 'loop' ? `/loop${status}` : '/end'
    response.writeHead(Number(status), { location }).end()
  })
  before(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    annex = await startAnnex({
      plugins: { sends: { script: script(url) } },
      flags: { SANDBOX_CPU_MS: '20000' },
    })
  })
  after(async () => {
    await annex.close()
    upstream.closeAllConnections()
    upstream.close()
  })
  const send = async (asked: object): Promise<Json> => {
    seen.length = 0
    const answer = await fetch(`${annex.url}/x/sends`, {
      method: 'POST',
      body: JSON.stringify({ method: 'PUT', ...asked }),
    })
    return JSON.parse(await answer.text())
  }

  for (const size of [100, 300_000]) {
    for (const kind of ['text', 'bytes', 'buffer', 'view', 'blob', 'parameters', 'form']) {
      it(`works for ${kind} of ${size} bytes`, async () => {
        const { method, redirected, bodyUsed, authorization, ...answer } = await send({
          way: 'first307',
          kind,
          size,
        })
        assert.deepEqual(
          [method, redirected, bodyUsed, authorization, answer.url],
          ['PUT', true, true, 'x', `${url}/end`],
          JSON.stringify(answer),
        )
        assert.equal(Number(answer.length), answer.size)
        assert.ok(answer.size >= size)
        assert.equal(seen.length, 2)
        assert.equal(seen[0]?.hash, seen[1]?.hash)
      })
    }
    it(`works for each status, repeatedly, and after the script read the body: ${size} bytes`, async () => {
      for (const way of ['first301', 'first302', 'first308', 'twice307', 'twice302']) {
        const answer = await send({ way, kind: 'bytes', size, looked: true })
        assert.deepEqual([answer.method, answer.size, answer.redirected], ['PUT', size, true], way)
      }
      const got = await send({ way: 'first302', kind: 'bytes', size, method: 'POST' })
      assert.deepEqual([got.method, got.size, got.type], ['GET', 0, undefined])
    })
    it(`is refused for a stream, with the next step: ${size} bytes`, async () => {
      for (const kind of ['stream', 'generator'])
        assert.match(
          (await send({ way: 'first307', kind, size })).failed,
          /fetch failed: .*a stream is sent only once.*arrayBuffer/,
        )
    })
    it(`ends after 20: ${size} bytes`, async () => {
      assert.match((await send({ way: 'loop307', kind: 'bytes', size })).failed, /more than 20 redirects/)
      assert.equal(seen.length, 21)
    })
  }

  it('works when the server answers before it has read the whole body', async () => {
    const answer = await send({ way: 'early307', kind: 'bytes', size: 3_000_000 })
    assert.deepEqual([answer.method, answer.size], ['PUT', 3_000_000], JSON.stringify(answer))
  })
})
