import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { startAnnex } from '../support/annex.ts'
import { spin } from '../support/spin.ts'

/** Computes long at times, at once and from a timer: waiting dispatches are moved continuously. */
const script = (upstream: string) => `
import { createIntegration } from '@annex/runtime'
const spin = (ms) => ${spin('ms')}
export default createIntegration({ fetch: async (request) => {
  const { searchParams } = new URL(request.url)
  const told = fetch('${upstream}/' + searchParams.get('id'))
  spin(Number(searchParams.get('spin')))
  setTimeout(spin, 0, Number(searchParams.get('later')))
  await told
  return new Response('done')
} })`

const seconds = 3
const atOnce = 24

it('a dispatch that moves to another process runs exactly once', async () => {
  const runs = new Map<string, number>()
  const upstream = createServer((request, response) => {
    const id = request.url ?? ''
    runs.set(id, (runs.get(id) ?? 0) + 1)
    response.end()
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const names = Array.from({ length: 12 }, (_none, at) => `mover-${at}`)
  const annex = await startAnnex({
    sandboxes: 'processes',
    plugins: Object.fromEntries(names.map((name) => [name, { script: script(url) }])),
    // Far more than any of them takes, also on a machine that is busy with something else.
    flags: { SANDBOX_SPARE: 'true', SANDBOX_CPU_MS: '20000' },
  })
  try {
    const end = performance.now() + seconds * 1000
    const failed: string[] = []
    let asked = 0
    const askOn = async () => {
      while (performance.now() < end) {
        asked += 1
        const isLong = Math.random() < 0.1
        const ms = isLong ? Math.round(45 + Math.random() * 250) : 0
        const query = `id=${asked}&spin=${Math.random() < 0.5 ? ms : 0}&later=${ms}`
        const name = names[Math.floor(Math.random() * names.length)]
        const answer = await fetch(`${annex.url}/x/${name}?${query}`)
        const text = await answer.text()
        if (answer.status !== 200) failed.push(`${answer.status} ${text}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, askOn))
    assert.deepEqual(failed, [])
    const wrong = Array.from({ length: asked }, (_none, at) => runs.get(`/${at + 1}`) ?? 0).filter(
      (n) => n !== 1,
    )
    assert.deepEqual(wrong, [], `of ${asked}`)
  } finally {
    await annex.close()
    upstream.closeAllConnections()
    upstream.close()
  }
})
