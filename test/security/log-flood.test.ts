import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startAnnex } from '../support/annex.ts'

const flood = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => {
  for (let i = 0; i < 20_000; i++) console.log('annex:flood:1:5 ' + i + ' \\0')
  return new Response('logged')
} })`

const thrower = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request) => {
  if (request.url.endsWith('/throw')) throw new Error('found by its id')
  return new Response('fine')
} })`

it('endless log lines neither slow down neighbours nor displace their errors', async () => {
  const annex = await startAnnex({
    sandboxes: 'processes',
    plugins: { flood: { script: flood }, thrower: { script: thrower } },
  })
  try {
    assert.equal((await fetch(`${annex.url}/x/thrower`)).status, 200)
    const floods = Array.from({ length: 5 }, () => fetch(`${annex.url}/x/flood`))
    const thrown = await fetch(`${annex.url}/x/thrower/throw`)
    assert.equal(thrown.status, 500, await thrown.text())
    const neighbour = await fetch(`${annex.url}/x/thrower`, { signal: AbortSignal.timeout(30_000) })
    assert.equal(neighbour.status, 200, await neighbour.text())
    await Promise.all(floods)
    const id = thrown.headers.get('x-request-id')
    const { json } = await annex.api('GET', `/v1/logs?request=${id}`)
    assert.match(json.items[0].text, /^Error: found by its id\n\s+at .*plugins\/thrower\/index\.ts:4:/)
    const flooded = await annex.api('GET', '/v1/logs?integration=flood&limit=200')
    assert.equal(flooded.json.count, 200)
    assert.ok(flooded.json.items.every(({ text }: { text: string }) => !text.includes('\0')))
  } finally {
    await annex.close()
  }
})
