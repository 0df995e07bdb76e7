import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Json, startAnnex, until } from '../support/annex.ts'

const script = (upstream: string) => `
import { createIntegration } from '@annex/runtime'
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
export default createIntegration({ fetch: (request, { waitUntil }) => {
  const way = new URL(request.url).pathname.split('/').at(-1)
  if (way === 'ends') waitUntil(wait(1_500).then(() => fetch('${upstream}/ended')))
  if (way === 'endless') waitUntil(new Promise(() => {}))
  if (way === 'forgets') fetch('${upstream}/silent')
  if (way === 'loops') waitUntil(wait(10).then(() => { for (;;); }))
  return new Response('answered')
} })`

describe('work after the answer', () => {
  const ended: string[] = []
  const folders: string[] = []
  const upstream = createServer((request, response) => {
    if (request.url === '/silent') return
    ended.push(request.url ?? '')
    response.end()
  })
  before(() => new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve)))
  after(() => {
    upstream.closeAllConnections()
    upstream.close()
    for (const folder of folders) rmSync(folder, { recursive: true })
  })
  const start = (dataDir: string, more: Partial<Parameters<typeof startAnnex>[0]> = {}) => {
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    return startAnnex({ dataDir, plugins: { works: { script: script(url) } }, ...more })
  }
  const makeFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'annex-stopped-'))
    folders.push(folder)
    return folder
  }

  it('inside waitUntil can end when Annex stops, and is logged if it does not', async () => {
    const dataDir = makeFolder()
    const annex = await start(dataDir)
    const ask = async (way: string) => {
      const response = await fetch(`${annex.url}/x/works/${way}`, { headers: { connection: 'close' } })
      assert.equal(await response.text(), 'answered')
      return response.headers.get('x-request-id')
    }
    await ask('ends')
    const request = await ask('endless')
    await annex.close()
    assert.deepEqual(ended, ['/ended'])
    const again = await start(dataDir)
    const { json } = await again.api('GET', '/v1/logs')
    await again.close()
    assert.deepEqual(
      json.items.map((item: Json) => [item.request, item.text]),
      [
        [
          request,
          'What was given to waitUntil was cut off. Annex is stopping. Give to queueTask what must not be lost.',
        ],
      ],
    )
  })

  it('inside waitUntil that reaches a limit is logged with the limit', async (t) => {
    const flags = { SANDBOX_WAIT_UNTIL_MS: '12000', SANDBOX_CPU_MS: '300' }
    const annex = await start(makeFolder(), { sandboxes: 'processes', flags })
    t.after(() => annex.close())
    for (const [way, limit] of [
      ['endless', 'SANDBOX_WAIT_UNTIL_MS'],
      ['loops', 'CPU time'],
    ]) {
      const response = await fetch(`${annex.url}/x/works/${way}`)
      await response.text()
      const { json } = await until(
        () => annex.api('GET', `/v1/logs?request=${response.headers.get('x-request-id')}`),
        (answered) => answered.json.items.length > 0,
      )
      assert.match(json.items[0].text, new RegExp(`^What was given to waitUntil was cut off\\. .*${limit}`))
    }
  })

  it('outside waitUntil is stopped and logged', async (t) => {
    const annex = await start(makeFolder())
    t.after(() => annex.close())
    await (await fetch(`${annex.url}/x/works/forgets`)).text()
    const { json } = await until(
      () => annex.api('GET', '/v1/logs'),
      (answered) => answered.json.items.length > 0,
    )
    assert.deepEqual(
      json.items.map(({ level, text }: Json) => [level, text]),
      [
        [
          'warn',
          'The script had answered while its fetch was still under way, so that was stopped. Await it, or give its promise to waitUntil.',
        ],
      ],
    )
  })
})
