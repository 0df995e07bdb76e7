import assert from 'node:assert/strict'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'

const script = (upstream: string) => `
import { createIntegration } from '@annex/runtime'
const seen = {}
const aborted = (signal) => new Promise((resolve) => {
  if (signal.aborted) resolve(signal.reason.name)
  else signal.addEventListener('abort', () => resolve(signal.reason.name))
})
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const ways = {
  signal: (request) => aborted(request.signal),
  copy: (request) => aborted(new Request(request).signal),
  clone: (request) => aborted(request.clone().signal),
  init: (request) => aborted(new Request('https://a/', request).signal),
  any: (request) => aborted(AbortSignal.any([request.signal, AbortSignal.timeout(20_000)])),
  late: async (request) => { while (!request.headers.has('never') && !request.signal.aborted) await wait(20); return 'polled' },
  fetch: (request) => fetch('${upstream}/hang', { signal: request.signal }).then(() => 'answered', (error) => error.name),
}
const streams = (request) => new Response(new ReadableStream({
  start(controller) { controller.enqueue(new Uint8Array(10)); aborted(request.signal).then((name) => { seen.streams = name }) },
}))
export default createIntegration({ fetch: async (request, { waitUntil }) => {
  const way = new URL(request.url).pathname.split('/').at(-1)
  if (way === 'seen') return Response.json(seen)
  if (way === 'streams') return streams(request)
  if (way === 'answered') {
    waitUntil(wait(300).then(() => { seen.answered = String(request.signal.aborted) }))
    return new Response('fine')
  }
  seen[way] = 'begun'
  seen[way] = await ways[way](request)
  return new Response('nobody reads this')
} })`

describe('request.signal', () => {
  let annex: Annex
  let hanging = 0
  const upstream = createServer((_request, response) => {
    hanging += 1
    response.once('close', () => {
      hanging -= 1
    })
  })
  before(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    annex = await startAnnex({ plugins: { waits: { script: script(url) } } })
  })
  after(async () => {
    await annex.close()
    upstream.closeAllConnections()
    upstream.close()
  })
  const seen = async (): Promise<Json> => (await fetch(`${annex.url}/x/waits/seen`)).json()

  for (const way of ['signal', 'copy', 'clone', 'init', 'any', 'late', 'fetch']) {
    for (const method of ['GET', 'POST']) {
      it(`aborts when the visitor leaves before the answer: ${way}, ${method}`, async () => {
        const request = httpRequest(`${annex.url}/x/waits/${way}`, { method })
        request.on('error', () => {})
        request.end(method === 'POST' ? 'body' : '')
        await until(seen, (all) => all[way] === 'begun')
        if (way === 'fetch')
          await until(
            async () => hanging,
            (count) => count === 1,
          )
        request.destroy()
        await until(seen, (all) => all[way] === (way === 'late' ? 'polled' : 'AbortError'))
        if (way === 'fetch')
          await until(
            async () => hanging,
            (count) => count === 0,
          )
      })
    }
  }

  it('aborts when the visitor leaves while the answer streams', async () => {
    const controller = new AbortController()
    const answer = await fetch(`${annex.url}/x/waits/streams`, { signal: controller.signal })
    await answer.body?.getReader().read()
    controller.abort()
    await until(seen, (all) => all.streams === 'AbortError')
  })

  it('does not abort once the answer has ended', async () => {
    const answer = await fetch(`${annex.url}/x/waits/answered`, { headers: { connection: 'close' } })
    assert.equal(await answer.text(), 'fine')
    assert.equal((await until(seen, (all) => all.answered !== undefined)).answered, 'false')
  })
})
