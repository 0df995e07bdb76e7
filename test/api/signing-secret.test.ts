import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Annex, type Answered, installSample, type Json, startAnnex } from '../support/annex.ts'
import { readingReceivers } from '../support/reading-receivers.ts'
import { type Received, startReceiver } from '../support/receiver.ts'

/** Answers with its secrets, and queues a delivery to the given URL. */
const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment, integration }) => request.method === 'GET'
    ? Response.json({ secrets: environment.signingSecrets, tokens: environment.apiTokens })
    : Response.json(await integration.queueDelivery({ url: await request.text(), event: { type: 'ping' } })),
})`

const takesAny = readingReceivers['takes any part']
const signedBy = ({ headers, body }: Received, secret: string) =>
  takesAny(String(headers['x-service-signature']), body, secret)
const partsOf = ({ headers }: Received) => String(headers['x-service-signature']).split(',').length - 1

describe('rotating a signing secret', () => {
  let annex: Annex
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let path = ''
  let endpoint = ''
  let secret = ''
  before(async () => {
    receiver = await startReceiver(200)
    annex = await startAnnex({ plugins: { signer: { script } } })
    ;({ path, endpoint, secret } = await installSample(annex, 'signer'))
  })
  after(async () => {
    await annex?.close()
    await receiver?.close()
  })

  const rotate = (body: object = {}, of = path, token?: string) =>
    annex.api('POST', `${of}/signing-secret`, body, token)
  const end = (of = path) => annex.api('DELETE', `${of}/signing-secret/previous`)
  const deliver = async (from = endpoint): Promise<Received> => {
    const count = receiver.received.length
    const queued = await fetch(from, { method: 'POST', body: receiver.url })
    assert.equal(queued.status, 200, await queued.text())
    return (await receiver.waitFor(count + 1)).at(-1) as Received
  }
  const environment = async (): Promise<Json> => (await fetch(endpoint)).json()

  // Each test begins with a secret that signs alone.
  beforeEach(async () => {
    secret = (await rotate({ overlapSeconds: 0 })).json.signingSecret
  })

  it('shows the new secret once, and signs with both for a day', async () => {
    const before = Date.now()
    const { status, json } = await rotate()
    assert.equal(status, 200)
    assert.match(json.signingSecret, /^whsec_[\w+/]{32}$/)
    assert.notEqual(json.signingSecret, secret)
    const untilMs = Date.parse(json.previousSecretUntil)
    assert.ok(untilMs >= before + 86_400_000 && untilMs <= Date.now() + 86_400_000)
    const shown = await annex.api('GET', path)
    assert.equal(shown.json.previousSecretUntil, json.previousSecretUntil)
    assert.ok(!shown.text.includes('whsec_'))
    const received = await deliver()
    assert.ok(signedBy(received, secret) && signedBy(received, json.signingSecret))
  })

  it('keeps signatures valid for receivers with the old secret', async () => {
    await rotate()
    const { headers, body } = await deliver()
    for (const [name, reads] of Object.entries(readingReceivers)) {
      assert.equal(reads(String(headers['x-service-signature']), body, secret), true, name)
    }
  })

  it('puts the signature of the new secret first on request', async () => {
    const { signingSecret } = (await rotate({ first: 'new' })).json
    const { headers, body } = await deliver()
    for (const [name, reads] of Object.entries(readingReceivers)) {
      assert.equal(reads(String(headers['x-service-signature']), body, signingSecret), true, name)
    }
  })

  it('gives the script the new secret at once', async () => {
    assert.equal((await environment()).secrets.installation, secret)
    const { signingSecret } = (await rotate()).json
    assert.equal((await environment()).secrets.installation, signingSecret)
  })

  it('ends the old secret at once with an overlap of 0, also during another overlap', async () => {
    const { json } = await rotate({ overlapSeconds: 0 })
    assert.equal(json.previousSecretUntil, undefined)
    const received = await deliver()
    assert.deepEqual([partsOf(received), signedBy(received, json.signingSecret)], [1, true])
    await rotate()
    const last = (await rotate({ overlapSeconds: 0 })).json.signingSecret
    const after = await deliver()
    assert.deepEqual([partsOf(after), signedBy(after, last)], [1, true])
  })

  it('ends the old secret when the overlap is over', async () => {
    const { signingSecret, previousSecretUntil } = (await rotate({ overlapSeconds: 1 })).json
    await sleep(Date.parse(previousSecretUntil) - Date.now() + 1)
    const received = await deliver()
    assert.deepEqual([partsOf(received), signedBy(received, signingSecret)], [1, true])
    assert.equal((await annex.api('GET', path)).json.previousSecretUntil, undefined)
    assert.equal((await rotate()).status, 200, 'and another rotation may begin')
  })

  it('answers 409 during an overlap', async () => {
    const { signingSecret } = (await rotate()).json
    const refused = await rotate()
    assert.deepEqual([refused.status, refused.json.error.code], [409, 'conflict'])
    assert.match(refused.json.error.message, /still signs, until 20\d\d-/)
    const received = await deliver()
    assert.ok(signedBy(received, secret) && signedBy(received, signingSecret), 'both still sign')
    assert.equal((await end()).status, 204)
    const after = await deliver()
    assert.deepEqual([partsOf(after), signedBy(after, signingSecret)], [1, true])
    assert.equal((await end()).status, 204, 'ending what has ended changes nothing')
    assert.equal(signedBy(await deliver(), signingSecret), true)
    assert.equal((await rotate()).status, 200)
  })

  it('replaces the new secret with `again`, and keeps the old one', async () => {
    const lost = (await rotate()).json.signingSecret
    const { status, json } = await rotate({ again: true, overlapSeconds: 60 })
    assert.equal(status, 200)
    const received = await deliver()
    assert.ok(signedBy(received, secret) && signedBy(received, json.signingSecret))
    assert.equal(signedBy(received, lost), false)
  })

  it('lets one of several concurrent rotations win', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => rotate()))
    const done = answers.filter(({ status }) => status === 200)
    assert.equal(done.length, 1)
    assert.ok(answers.every(({ status }) => status === 200 || status === 409))
    const received = await deliver()
    assert.ok(signedBy(received, secret) && signedBy(received, done[0]?.json.signingSecret))
  })

  it('changes the secret of one level only', async () => {
    const { site } = annex.server.samples
    const installed = await annex.api('POST', `${path}/sites`, { site })
    assert.equal(installed.status, 201)
    const of = `${path}/sites/${site}`
    const { json } = await rotate({}, of)
    const fromSite = await deliver(installed.json.urls.publicEndpoint)
    assert.ok(signedBy(fromSite, installed.json.signingSecret) && signedBy(fromSite, json.signingSecret))
    assert.equal((await annex.api('GET', of)).json.previousSecretUntil, json.previousSecretUntil)
    const received = await deliver()
    assert.deepEqual([partsOf(received), signedBy(received, secret)], [1, true])
    assert.equal((await end(of)).status, 204)
    const after = await deliver(installed.json.urls.publicEndpoint)
    assert.deepEqual([partsOf(after), signedBy(after, json.signingSecret)], [1, true])
    const elsewhere = await rotate({}, `${path}/sites/site_none`)
    assert.equal(elsewhere.status, 404)
  })

  it('is allowed for people of its organization only', async () => {
    const acme = (await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })).json.id
    const { token } = (await annex.api('POST', `/v1/orgs/${acme}/tokens`, {})).json
    const { tokens } = await environment()
    const callers: [string, string, number][] = [
      ['another organization', token, 404],
      ['the script, in its installation', tokens.installation, 403],
      ['the script, as its integration', tokens.integration, 403],
      ['nobody', 'annex_op_nobody', 401],
    ]
    const { site } = annex.server.samples
    for (const [who, by, status] of callers) {
      for (const level of [path, `${path}/sites/${site}`]) {
        assert.equal((await rotate({ overlapSeconds: 0 }, level, by)).status, status, who)
        const ended = await annex.api('DELETE', `${level}/signing-secret/previous`, undefined, by)
        assert.equal(ended.status, status, who)
      }
    }
    const received = await deliver()
    assert.deepEqual([partsOf(received), signedBy(received, secret)], [1, true])
    const own = (await annex.api('POST', `/v1/orgs/${annex.server.samples.organization}/tokens`, {})).json
    assert.equal((await rotate({}, path, own.token)).status, 200)
    const { name } = (await annex.api('GET', '/v1/integrations/signer')).json
    const wrongName = path.replace(`/integrations/${name}/`, '/integrations/other/')
    assert.equal((await rotate({}, wrongName)).status, 404)
  })

  it('refuses a secret in the request, and wrong overlaps', async () => {
    const bodies: Json[] = [
      { signingSecret: 'whsec_mine' },
      { secret: 'weak' },
      ...[-1, 0.5, 30 * 86_400 + 1, '60', null].map((overlapSeconds) => ({ overlapSeconds })),
      { first: 'both' },
      { again: 1 },
      [],
    ]
    for (const body of bodies) {
      const refused: Answered = await rotate(body)
      assert.deepEqual([refused.status, refused.json.error.code], [422, 'body_invalid'], JSON.stringify(body))
    }
    assert.equal(
      (await rotate({ first: 'both' })).json.error.message,
      'The JSON body cannot be used: first must be one of "new", "old".',
    )
    assert.equal((await environment()).secrets.installation, secret)
    assert.equal((await rotate({ overlapSeconds: 30 * 86_400 })).status, 200)
  })
})
