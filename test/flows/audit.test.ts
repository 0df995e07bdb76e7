import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { auditActions } from '../../host/logs/audit.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const settings = `configurations:
  account:
    properties:
      team: { type: string, title: Team, description: The team. }
      api_token: { type: string, title: Token, description: A token of the provider. }
      address: { type: string, title: Address, description: An address with the token in it. }`

const sending = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (_request, { integration }) =>
    Response.json(await integration.queueDelivery({ url: 'http://127.0.0.1:9/', event: { type: 'told' } })),
})`

/** It has no handler for its task, which fails at once. */
const failing = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (_request, { integration }) => {
    await integration.queueTask({ task: { type: 'unknown' } })
    return new Response('queued')
  },
})`

const minting = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (_request, { environment }) => {
    const { apiEndpoint, apiTokens, installation } = environment
    const url = apiEndpoint + '/v1/integrations/minting/installations/' + installation.id + '/tokens'
    const headers = { authorization: 'Bearer ' + apiTokens.integration }
    return new Response(String((await fetch(url, { method: 'POST', headers })).status))
  },
})`

describe('the audit behind a proxy', () => {
  it('has the client address that the rate limits count, too', async () => {
    const annex = await startAnnex({ flags: { PUBLIC_URL: 'https://annex.example' } })
    try {
      const token = readFileSync(join(annex.dataDir, 'cli.token'), 'utf8').trim()
      const cases = {
        '198.51.100.7': '198.51.100.7',
        '203.0.113.9, 198.51.100.8': '198.51.100.8',
        nonsense: '127.0.0.1',
      }
      for (const [forwarded, address] of Object.entries(cases)) {
        const made = await fetch(`${annex.url}/v1/tokens`, {
          method: 'POST',
          headers: {
            ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            'x-forwarded-for': forwarded,
          },
          body: '{}',
        })
        const { id } = (await made.json()) as Json
        const [entry] = (await annex.api('GET', `/v1/audit?subject=${id}`)).json.items
        assert.equal(entry.address, address, forwarded)
      }
    } finally {
      await annex.close()
    }
  })
})

describe('the audit', () => {
  let annex: Annex
  let id: string
  let path: string
  before(async () => {
    annex = await startAnnex({
      plugins: {
        settled: { more: settings },
        sending: { script: sending },
        failing: { script: failing },
        minting: { script: minting },
      },
      flags: { DELIVERY_RETRY_SECONDS: '0.5,0.5' },
    })
    ;({ id, path } = await installSample(annex, 'settled'))
  })
  after(() => annex.close())

  const entriesOf = async (query: string): Promise<Json[]> =>
    (await annex.api('GET', `/v1/audit?${query}`)).json.items

  it('has the actor, request and address of each change', async () => {
    await annex.api('PUT', `${path}/configuration/team`, { value: 'blue' })
    const answer = await annex.api('PUT', `${path}/configuration/team`, { value: 'red' })
    const [entry] = await entriesOf(`subject=${id}&action=settings.change`)
    assert.deepEqual(
      [entry.before.configuration, entry.after.configuration],
      [{ team: 'blue' }, { team: 'red' }],
    )
    assert.equal(entry.actor.kind, 'token')
    assert.match(entry.actor.id, /^tok_/)
    assert.equal(entry.request, answer.headers.get('x-request-id'))
    assert.equal(entry.address, '127.0.0.1')
  })

  it('masks secrets by value, anywhere in an entry', async () => {
    await annex.api('PATCH', path, {
      configuration: {
        team: 'blue',
        api_token: 'very-secret-1',
        address: 'https://x.example/?key=very-secret-1',
      },
    })
    const quoted = 'a "secret" with \\ and ?'
    for (const address of [
      JSON.stringify({ key: quoted }),
      `https://x.example/?key=${encodeURIComponent(quoted)}`,
      Buffer.from(`user:${quoted}`).toString('base64'),
    ]) {
      await annex.api('PATCH', path, { configuration: { api_token: quoted, address } })
    }
    const shown = (await entriesOf(`subject=${id}`)).map((entry) => entry.after?.configuration?.address)
    assert.deepEqual(shown.slice(0, 3), [
      'dXNlcjp[secret configuration.api_token]w==',
      'https://x.example/?key=[secret configuration.api_token]',
      '{"key":"[secret configuration.api_token]"}',
    ])
    await annex.api('PUT', `${path}/configuration/api_token`, { value: 'short' })
    const texts = JSON.stringify(await entriesOf(`subject=${id}`))
    assert.doesNotMatch(texts, /very-secret-1|"short"/)
    assert.match(texts, /x\.example/)
  })

  it('has an entry for each kind of change, and none for a refused one', async () => {
    await annex.api('POST', `${path}/pause`)
    await annex.api('POST', `${path}/resume`)
    await annex.api('POST', `${path}/signing-secret`, {})
    await annex.api('PUT', `${path}/configuration/unknown`, { value: 1 })
    await annex.api('DELETE', path)
    const actions = (await entriesOf(`subject=${id}`)).map(({ action }) => action)
    assert.deepEqual(actions.slice(0, 4), [
      'installation.delete',
      'secret.rotate',
      'installation.resume',
      'installation.pause',
    ])
    assert.deepEqual(actions.slice(-2), ['installation.create', 'grant.create'])
    assert.deepEqual(
      (await entriesOf('subject=settled')).map(({ action, actor }) => [action, actor.kind]),
      [['version.deploy', 'system']],
    )
  })

  it('has the pause, resume and order of a receiver', async () => {
    const { path: sending } = await installSample(annex, 'sending')
    await fetch((await annex.api('GET', sending)).json.urls.publicEndpoint)
    const [receiver] = (await annex.api('GET', '/v1/receivers')).json.items
    await annex.api('POST', `/v1/receivers/${receiver.id}/pause`, { reason: 'it moves' })
    await annex.api('PATCH', `/v1/receivers/${receiver.id}`, { ordered: true })
    await annex.api('POST', `/v1/receivers/${receiver.id}/resume`)
    assert.equal((await annex.api('POST', `/v1/receivers/${receiver.id}/resume`)).status, 409)
    const entries = await entriesOf(`subject=${receiver.id}`)
    assert.deepEqual(
      entries.map(({ action, after }) => [action, after]),
      [
        ['receiver.resume', null],
        ['receiver.change', { ordered: true }],
        ['receiver.pause', { reason: 'it moves' }],
      ],
    )
    assert.equal(entries[0].organization, annex.server.samples.organization)
  })

  it('has examples, deliveries that are sent again, and jobs that are run again', async () => {
    const [receiver] = (await annex.api('GET', '/v1/receivers')).json.items
    const example = await annex.api('POST', `/v1/receivers/${receiver.id}/example`, {})
    assert.equal(example.status, 202, example.text)
    const path = `/v1/deliveries/${example.json.id}`
    await until(
      () => annex.api('GET', path),
      ({ json }) => json.attempts > 0,
    )
    const again = await until(
      () => annex.api('POST', `${path}/send`),
      ({ status }) => status < 400,
    )
    assert.equal((await annex.api('POST', '/v1/deliveries/dlv_none/send')).status, 404)
    const { organization } = annex.server.samples
    const [sent, ...others] = await entriesOf(`subject=${example.json.id}`)
    assert.deepEqual([sent.action, sent.organization, others], ['delivery.send', organization, []])
    assert.equal(sent.request, again.headers.get('x-request-id'))
    const [shown] = await entriesOf(`subject=${receiver.id}&action=receiver.send_example`)
    assert.deepEqual([shown.organization, shown.actor.kind], [organization, 'token'])
    const { json: filtered } = await annex.api('POST', '/v1/deliveries/send-failed', {
      since: '2020-01-01T00:00:00Z',
      dryRun: true,
    })
    assert.equal(filtered.dryRun, true)
    assert.deepEqual(await entriesOf('action=delivery.send_failed'), [], 'a dry run changes nothing')

    const { path: failing } = await installSample(annex, 'failing')
    await fetch((await annex.api('GET', failing)).json.urls.publicEndpoint)
    const job = await until(
      async () => (await annex.api('GET', '/v1/jobs?state=failed')).json.items[0],
      (found) => found !== undefined,
    )
    assert.equal((await annex.api('POST', `/v1/jobs/${job.id}/run`)).status, 202)
    const [run] = await entriesOf(`subject=${job.id}`)
    assert.deepEqual(
      [run.action, run.organization, run.after],
      ['job.run', organization, { event: job.event }],
    )
  })

  it('has the filter and the number of failed deliveries that are sent again', async () => {
    // Nothing listens on the receiver's port.
    const failed = await until(
      async () => (await annex.api('GET', '/v1/deliveries?state=failed')).json.items,
      (items: Json[]) => items.length > 0,
    )
    const [{ receiver, installation }] = failed
    const { organization } = annex.server.samples
    const filters: [filter: object, subject: string, organization: string | null][] = [
      [{ receiver }, receiver, null],
      [{ installation }, installation, organization],
      [{}, 'all', null],
    ]
    for (const [filter, subject, owner] of filters) {
      // One that fails between the count and the sending would be sent, and not counted.
      await until(
        async () => (await annex.api('GET', '/v1/deliveries?state=pending')).json.items,
        (items: Json[]) => items.length === 0,
      )
      const body = { since: '2020-01-01T00:00:00Z', ...filter }
      const answer = await annex.api('POST', '/v1/deliveries/send-failed', body)
      assert.equal(answer.status, 202, answer.text)
      const [entry] = await entriesOf('action=delivery.send_failed')
      assert.deepEqual([entry.subject, entry.organization], [{ kind: 'deliveries', id: subject }, owner])
      assert.deepEqual(entry.after, { ...body, count: answer.json.count })
      assert.ok(entry.after.count > 0)
      assert.equal(entry.request, answer.headers.get('x-request-id'))
      assert.equal(entry.actor.kind, 'token')
    }
    const none = { since: '2020-01-01T00:00:00Z', eventType: 'none' }
    assert.equal((await annex.api('POST', '/v1/deliveries/send-failed', none)).status, 200)
    assert.equal((await entriesOf('action=delivery.send_failed')).length, filters.length)
  })

  it('has one entry for each token that a script makes', async () => {
    const { path: minting, id: installation } = await installSample(annex, 'minting')
    const { publicEndpoint } = (await annex.api('GET', minting)).json.urls
    for (const _ of [1, 2, 3]) assert.equal(await (await fetch(publicEndpoint)).text(), '201')
    const entries = await entriesOf(`subject=${installation}&action=token.mint`)
    assert.deepEqual(
      entries.map(({ actor, organization }) => [actor, organization]),
      [[{ kind: 'script', id: 'minting' }, annex.server.samples.organization]],
    )
    assert.doesNotMatch(JSON.stringify(entries), /eyJ/)
  })

  it('has no action that docs/audit.md omits', () => {
    const text = readFileSync(new URL('../../docs/audit.md', import.meta.url), 'utf8')
    assert.deepEqual(
      auditActions.filter((action) => !text.includes(`\`${action}\``)),
      [],
    )
  })

  it('is exported as lines of JSON, with the changes of the caller’s organization only', async () => {
    const all = await annex.api('GET', '/v1/audit/export')
    assert.match(all.headers.get('content-type') ?? '', /application\/x-ndjson/)
    const lines = all.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.ok(lines.length >= 8)
    const other = (await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })).json.id
    const { token } = (await annex.api('POST', `/v1/orgs/${other}/tokens`, {})).json
    const seen = await annex.api('GET', '/v1/audit', undefined, token)
    assert.deepEqual(
      seen.json.items.filter(({ organization }: Json) => organization !== other),
      [],
    )
  })
})
