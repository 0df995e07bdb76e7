import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'

const secret = 'sk-live-0123456789'

/** Logs its key, and fails each setup that has it, so that the job stays. */
const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request, { environment }) => {
    const { key } = environment.installation.configuration
    console.log('the key is ' + key)
    return Response.json({ length: key?.length })
  },
  events: { installation_setup: ({ previous }) => { if (previous?.configuration.key) throw new Error('no') } },
})`

const more = `
configurations:
  account:
    properties:
      key: { type: string, title: Key, description: Of the provider, secret: true }
      region: { type: string, title: Region, description: Where }
    required: [key]`

describe('a setting with `secret: true`', () => {
  let annex: Annex
  let path: string
  let endpoint: string
  let answers = ''
  before(async () => {
    annex = await startAnnex({ sandboxes: 'processes', plugins: { keeper: { script, more } } })
    const base = '/v1/integrations/keeper/installations'
    const { json } = await annex.api('POST', base, {
      organization: annex.server.samples.organization,
      ...(await agreementTo(annex, 'keeper')),
    })
    path = `${base}/${json.id}`
    endpoint = json.urls.publicEndpoint
  })
  after(() => annex.close())

  async function ask(method: string, at: string, body?: object): Promise<{ status: number; json: Json }> {
    const { status, json, text } = await annex.api(method, at, body)
    answers += text
    return { status, json }
  }
  const keyLength = async () => ((await (await fetch(endpoint)).json()) as Json).length

  it('is set by people, and shown as a mask', async () => {
    const { status, json } = await ask('PUT', `${path}/configuration/key`, { value: secret })
    assert.equal(status, 200)
    assert.deepEqual([json.configuration, json.status], [{ key: '[secret]' }, 'active'])
    assert.deepEqual((await ask('GET', path)).json.configuration, { key: '[secret]' })
    assert.equal((await ask('GET', '/v1/installations')).json.items[0].configuration, undefined)
    assert.equal(await keyLength(), secret.length)
  })

  it('keeps its value when an edit contains the mask', async () => {
    const edited = await ask('PATCH', path, { configuration: { key: '[secret]', region: 'eu' } })
    assert.deepEqual(edited.json.configuration, { key: '[secret]', region: 'eu' })
    assert.equal((await ask('PUT', `${path}/configuration/key`, { value: '[secret]' })).status, 200)
    assert.equal(await keyLength(), secret.length)
  })

  it('is quoted in no error, log line or job', async () => {
    const wrong = await ask('PUT', `${path}/configuration/key`, { value: 98_765_432_101 })
    assert.equal(wrong.status, 422)
    assert.match(wrong.json.error.message, /must be text, found another value/)
    answers += JSON.stringify(wrong.json).replaceAll('98765432101', secret)
    const lines = await until(
      async () => (await ask('GET', '/v1/logs?integration=keeper')).json.items,
      (items) => items.length > 0,
    )
    assert.equal(
      lines.some(({ text }: Json) => text === 'the key is [secret configuration.key]'),
      true,
    )
    const due = await until(
      async () => (await ask('GET', '/v1/jobs?state=due')).json.items,
      (items) => items.length > 0,
    )
    const job = await ask('GET', `/v1/jobs/${due[0].id}`)
    assert.equal(job.json.payload.previous.configuration.key, '[secret]')
    assert.ok(!answers.includes(secret), 'an answer shows the secret')
  })

  it('cannot be set to its mask after its removal', async () => {
    assert.equal((await ask('DELETE', `${path}/configuration/key`)).json.status, 'pending')
    const refused = await ask('PATCH', path, { configuration: { key: '[secret]' } })
    assert.equal(refused.status, 422)
    assert.match(refused.json.error.message, /is not set yet/)
  })
})
