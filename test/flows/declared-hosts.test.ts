import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { installSample, startAnnex } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'

/** Fetches what its query names, and its own installation by the API; says what came of it. */
const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request, { api, environment }) => {
  const target = new URL(request.url).searchParams.get('to')
  if (target) return new Response(await fetch(target).then(({ status }) => status, (error) => error.message))
  const { name } = environment.integration
  const own = await api.request({ path: '/integrations/' + name + '/installations/' + environment.installation.id })
  return new Response(own.status)
} })`

describe('a script whose manifest declares its hosts', () => {
  it('fetches from these hosts, and gets an error with the missing entry for others', async () => {
    const [declared, other] = [await startReceiver(204), await startReceiver(204)]
    const { host } = new URL(declared.url)
    const annex = await startAnnex({ plugins: { stats: { script, more: `egress: ['${host}']` } } })
    try {
      const { endpoint } = await installSample(annex, 'stats')
      const ask = async (to: string) => (await fetch(`${endpoint}?to=${encodeURIComponent(to)}`)).text()
      assert.equal(await ask(declared.url), '204')
      const refused = await ask(other.url)
      assert.match(
        refused,
        /fetch failed.*stats may not reach 127\.0\.0\.1:\d+.*to "egress" in the manifest/s,
      )
      assert.equal(other.received.length, 0)
      assert.equal(await (await fetch(endpoint)).text(), '200')
    } finally {
      await Promise.all([annex.close(), declared.close(), other.close()])
    }
  })

  it('is required by EGRESS_REQUIRE_DECLARED: without it a script reaches the API alone', async () => {
    const receiver = await startReceiver(204)
    const annex = await startAnnex({
      plugins: { stats: { script } },
      flags: { EGRESS_REQUIRE_DECLARED: 'true' },
    })
    try {
      const { endpoint } = await installSample(annex, 'stats')
      const refused = await (await fetch(`${endpoint}?to=${encodeURIComponent(receiver.url)}`)).text()
      assert.match(refused, /EGRESS_REQUIRE_DECLARED.*declares nothing/)
      assert.equal(receiver.received.length, 0)
      assert.equal(await (await fetch(endpoint)).text(), '200')
    } finally {
      await Promise.all([annex.close(), receiver.close()])
    }
  })
})
