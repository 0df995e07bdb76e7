import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Annex, startAnnex, until } from '../support/annex.ts'

const script = (upstream: string) => `
import { createIntegration } from '@annex/runtime'
const bytes = (count) => new Uint8Array(count).fill(7)
let pulls = 0
let cancelled = 0
let letGo
const endless = () => new ReadableStream({
  pull(controller) { pulls++; controller.enqueue(bytes(65536)) },
  cancel() { cancelled++ },
}, { highWaterMark: 0 })
const ways = {
  through: (request) => new Response(request.body),
  clone: async (request) => { const copy = request.clone(); await request.text(); return new Response(copy.body) },
  unread: () => new Response('early'),
  first: async (request) => { await request.body.getReader().read(); return new Response('early') },
  endless: () => new Response(endless()),
  counts: () => Response.json({ pulls, cancelled }),
  breaks: () => new Response(new ReadableStream({
    start(controller) { controller.enqueue(bytes(10)) },
    async pull(controller) { await new Promise((r) => setTimeout(r, 50)); controller.error(new Error('half way')) },
  })),
  silent: () => new Response(new ReadableStream({})),
  words: () => new Response(new ReadableStream({ start(controller) { controller.enqueue('no bytes') } })),
  gone: () => {
    const large = bytes(20_000_000)
    letGo = () => structuredClone(large.buffer, { transfer: [large.buffer] })
    return new Response(new ReadableStream({ start(controller) { controller.enqueue(large); controller.close() } }))
  },
  'let-go': () => { letGo(); return new Response('gone') },
  patched: () => {
    const { getReader } = ReadableStream.prototype
    ReadableStream.prototype.getReader = () => { ReadableStream.prototype.getReader = getReader; throw new Error('no reader') }
    return new Response(new ReadableStream({}))
  },
  proxy: (request) => fetch('${upstream}' + new URL(request.url).search.slice(1)),
  sized: (request) => fetch('${upstream}/sized', { method: request.method, headers: request.headers }),
  again: async (request) => {
    const { body, headers } = await fetch('${upstream}/sized', { headers: request.headers })
    return new Response(body, { headers })
  },
  changed: async (request) => {
    const { body, headers } = await fetch('${upstream}/sized', { headers: request.headers })
    return new Response(body.pipeThrough(new TransformStream({ transform(chunk, c) { c.enqueue(chunk); c.enqueue(chunk) } })), { headers })
  },
  begun: async (request) => {
    const { body, headers } = await fetch('${upstream}/sized', { headers: request.headers })
    const reader = body.getReader()
    await reader.read()
    reader.releaseLock()
    return new Response(body, { headers })
  },
  taken: (request) => fetch(new Request('${upstream}/hash', request)),
  upload: (request) => fetch('${upstream}/hash', { method: 'POST', body: request.body, duplex: 'half' }),
  'upload-long': () => fetch('${upstream}/hash', { method: 'POST', body: bytes(300000) }),
  many: async () => {
    for (let i = 0; i < 40; i++) await (await fetch('${upstream}/chunked')).text()
    return new Response('all')
  },
  empty: async () => { const { body } = await fetch('${upstream}/empty'); return Response.json(body instanceof ReadableStream) },
  abort: async () => {
    const controller = new AbortController()
    const { body } = await fetch('${upstream}/events', { signal: controller.signal })
    const reader = body.getReader()
    await reader.read()
    setTimeout(() => controller.abort(new Error('enough')), 20)
    return new Response(await reader.read().then(() => 'went on', (reason) => reason.message))
  },
}
export default createIntegration({ fetch: (request) => ways[new URL(request.url).pathname.split('/').at(-1)](request) })`

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('a body that streams', () => {
  let annex: Annex
  let closedEvents = 0
  const upstream = createServer(async (request, response) => {
    if (request.url === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: one\n\n')
      response.once('close', () => {
        closedEvents += 1
      })
      return
    }
    if (request.url === '/chunked') {
      response.write('some ')
      return response.end('text')
    }
    if (request.url === '/empty') return response.end()
    if (request.url === '/sized') {
      const body = Buffer.alloc(Number(request.headers['x-size']), 3)
      return response.writeHead(200, { 'content-length': body.length, etag: '"1"' }).end(body)
    }
    if (request.url === '/big') return response.end(Buffer.alloc(8_000_000, 3))
    const hash = createHash('sha256')
    for await (const chunk of request) hash.update(chunk)
    const { 'content-length': length = 'chunked' } = request.headers
    response.end(`${hash.digest('hex')} ${length}`)
  })

  before(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    annex = await startAnnex({
      plugins: { streams: { script: script(url) } },
      // The CPU's is wide: many megabytes are computed here, also on a slow machine.
      flags: {
        SANDBOX_WALL_MS: '8000',
        SANDBOX_CPU_MS: '20000',
        SANDBOX_BODY_BYTES: '100000000',
      },
    })
  })
  after(async () => {
    await annex.close()
    upstream.closeAllConnections()
    upstream.close()
  })

  const ask = (path: string, init?: RequestInit) =>
    fetch(`${annex.url}/x/streams/${path}`, { signal: AbortSignal.timeout(60_000), ...init })
  const post = (path: string, body: Uint8Array<ArrayBuffer>) => ask(path, { method: 'POST', body })
  const logOf = async (response: Response) =>
    (await annex.api('GET', `/v1/logs?request=${response.headers.get('x-request-id')}`)).text

  it('passes a script unchanged: as it is, cloned, and uploaded by a fetch', async () => {
    const bytes = new Uint8Array(20_000_000).map((_none, at) => at * 31)
    for (const way of ['through', 'clone']) {
      const answer = await post(way, way === 'clone' ? bytes.subarray(0, 2_000_000) : bytes)
      const expected = way === 'clone' ? bytes.subarray(0, 2_000_000) : bytes
      assert.equal(sha(await answer.bytes()), sha(expected), way)
    }
    assert.equal(await (await post('upload', bytes)).text(), `${sha(bytes)} ${bytes.length}`)
    const long = new Uint8Array(300_000).fill(7)
    assert.equal(await (await ask('upload-long')).text(), `${sha(long)} 300000`)
  })

  it('keeps a known length when a script passes it on, and loses it when changed', async () => {
    const length = async (path: string, size: number, init?: RequestInit) => {
      const answer = await ask(path, {
        ...init,
        headers: { 'x-size': `${size}`, 'accept-encoding': 'identity' },
      })
      const bytes = await answer.bytes().catch(() => undefined)
      return [answer.headers.get('content-length'), bytes?.length]
    }
    for (const size of [10, 1_000, 200_000]) {
      for (const path of ['sized', 'again'])
        assert.deepEqual(await length(path, size), [`${size}`, size], path)
      assert.deepEqual(await length('sized', size, { method: 'HEAD' }), [`${size}`, 0])
      assert.deepEqual(await length('changed', size), [null, size * 2])
    }
    // A body that was begun is refused, whatever is said of its length.
    assert.equal((await ask('begun', { headers: { 'x-size': '200000' } })).status, 500)
    for (const size of [10, 200_000]) {
      const bytes = new Uint8Array(size)
      for (const path of ['upload', 'taken'])
        assert.equal(await (await post(path, bytes)).text(), `${sha(bytes)} ${size}`, path)
    }
    // What comes in chunks goes out in chunks.
    const pieces = Readable.toWeb(Readable.from([Buffer.alloc(100_000)])) as ReadableStream<
      Uint8Array<ArrayBuffer>
    >
    const chunked = await ask('upload', { method: 'POST', body: pieces, duplex: 'half' } as RequestInit)
    assert.match(await chunked.text(), / chunked$/)
  })

  it('of a fetched answer is passed on event by event', async () => {
    assert.equal((await (await ask('proxy?/big')).bytes()).length, 8_000_000)
    const answer = await ask('proxy?/events')
    const reader = answer.body?.getReader()
    assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'data: one\n\n')
    const before = closedEvents
    await reader?.cancel()
    await until(
      async () => closedEvents,
      (count) => count > before,
    )
  })

  it('can be aborted in the middle, for its reader and its server', async () => {
    const before = closedEvents
    assert.equal(await (await ask('abort')).text(), 'enough')
    await until(
      async () => closedEvents,
      (count) => count > before,
    )
  })

  it('frees its slot when it was read, so a script can read many in turn', async () => {
    assert.equal(await (await ask('many')).text(), 'all')
  })

  it('of an empty answer is an empty stream', async () => {
    assert.equal(await (await ask('empty')).text(), 'true')
  })

  it('is made no faster than its visitor reads, and cancelled when the visitor leaves', async () => {
    const counts = async () => (await ask('counts')).json() as Promise<{ pulls: number; cancelled: number }>
    const response = await new Promise<import('node:http').IncomingMessage>((resolve) =>
      httpRequest(`${annex.url}/x/streams/endless`, resolve).end(),
    )
    response.pause()
    response.on('error', () => {})
    // What lies between them fills up, and then nothing is made any more.
    const pulledIn = async () => {
      const before = (await counts()).pulls
      await sleep(500)
      return (await counts()).pulls - before
    }
    await until(pulledIn, (count) => count === 0)
    assert.equal(await pulledIn(), 0)
    response.destroy()
    await until(counts, ({ cancelled }) => cancelled === 1)
  })

  it('breaks off when it fails, with the reason in the log', async () => {
    const answer = await ask('breaks')
    await assert.rejects(answer.bytes())
    assert.match(await logOf(answer), /half way/)
    const words = await ask('words')
    await assert.rejects(words.bytes())
    assert.match(await logOf(words), /no Uint8Array/)
  })

  it('that gives nothing ends at the wall clock limit, with its name in the log', async () => {
    const answer = await ask('silent')
    await assert.rejects(answer.bytes())
    assert.match(await logOf(answer), /SANDBOX_WALL_MS/)
  })

  it('breaks off above the size limit, with its name in the log', async () => {
    const answer = await ask('endless')
    await assert.rejects(answer.bytes())
    assert.match(await logOf(answer), /SANDBOX_BODY_BYTES/)
  })

  it('breaks off at once when its bytes are gone', async () => {
    // Not read yet, it stands still after its first pieces. On a busy machine another process may be asked to let go.
    const letGo = async () => {
      const answer = await ask('gone')
      const said = await (await ask('let-go')).text()
      if (said !== 'gone') await answer.body?.cancel()
      return { answer, said }
    }
    const { answer } = await until(letGo, ({ said }) => said === 'gone')
    const startedMs = performance.now()
    await assert.rejects(answer.bytes())
    assert.ok(performance.now() - startedMs < 20_000)
  })

  it('is a 500 at once when it cannot be read', async () => {
    assert.equal((await ask('patched')).status, 500)
  })

  it('without a reader holds neither the answer nor the connection', async () => {
    const bytes = new Uint8Array(5_000_000)
    for (const way of ['unread', 'first', 'unread', 'first'])
      assert.equal(await (await post(way, bytes)).text(), 'early')
    assert.equal((await ask('endless', { method: 'HEAD' })).status, 200)
  })
})
