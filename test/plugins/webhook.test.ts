import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'

const pluginsDir = fileURLToPath(new URL('../../plugins', import.meta.url))

describe('the webhook integration', () => {
  let annex: Annex
  let path: string
  before(async () => {
    annex = await startAnnex({ pluginsDir })
    path = (await installSample(annex, 'webhook', 'site')).path
  })
  after(() => annex.close())

  const configure = (configuration: object): Promise<{ status: number; json: Json }> =>
    annex.api('PATCH', path, { configuration })

  it('accepts only a web address', async () => {
    for (const url of ['foo', 'javascript:alert(1)', 'ftp://a.example']) {
      const { status, json } = await configure({ webhook_url: url, site_view: true })
      assert.equal(status, 422)
      assert.deepEqual(json.error.details, [
        {
          path: '/configuration/webhook_url',
          message: `must be a web address that begins with http:// or https://, found "${url}"`,
        },
      ])
    }
  })

  it('refuses settings without an event type', async () => {
    const { status, json } = await configure({ webhook_url: 'https://a.example' })
    assert.equal(status, 422)
    const message = 'is required: turn on one of site_view, page_feedback'
    assert.deepEqual(json.error.details, [
      { path: '/configuration/site_view', message },
      { path: '/configuration/page_feedback', message },
    ])
    assert.equal((await annex.api('GET', path)).json.status, 'pending')
  })

  it('is active with an address and an event type', async () => {
    const { json } = await configure({ webhook_url: 'https://a.example', page_feedback: true })
    assert.equal(json.status, 'active')
  })
})
