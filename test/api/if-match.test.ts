import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request, { environment }) => Response.json(environment.apiTokens),
  events: { installation_setup: () => {} },
})`

const settings = `
    properties:
      region:
        type: string
        title: Region
        description: Where.
        enum: [eu, us]
      limit:
        type: number
        title: Limit
        description: How many.
      connection:
        type: button
        title: Connect
        description: The account.
        button_text: Connect
        callback_url: /oauth`

describe('an edit of settings', () => {
  let annex: Annex
  let account: string
  let site: string
  let token: string
  let operator: string
  before(async () => {
    const more = `configurations:\n  account:${settings}\n  site:${settings}\n`
    annex = await startAnnex({ plugins: { settled: { script, more } } })
    const installed = await installSample(annex, 'settled', 'site', { region: 'eu' })
    site = installed.path
    account = site.replace(/\/sites\/.*$/, '')
    token = ((await (await fetch(installed.endpoint)).json()) as { installation: string }).installation
    operator = (await annex.api('POST', '/v1/orgs/home/tokens', {})).json.token
  })
  after(() => annex?.close())

  /** Sends exactly these headers. */
  const send = async (
    method: string,
    path: string,
    given: { ifMatch?: string; body?: object; as?: string } = {},
  ): Promise<{ status: number; etag: string; json: Json }> => {
    const { ifMatch, body, as = operator } = given
    const response = await fetch(annex.url + path, {
      method,
      headers: {
        authorization: `Bearer ${as}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, etag: response.headers.get('etag') ?? '', json: await response.json() }
  }
  const setLimit = (path: string, value: number, ifMatch?: string) =>
    send('PUT', `${path}/configuration/limit`, { body: { value }, ...(ifMatch !== undefined && { ifMatch }) })

  it('by a person says which version it changes: else 428, and nothing is changed', async () => {
    for (const path of [account, site]) {
      const before = await send('GET', path)
      assert.match(before.etag, /^"[\w-]{22}"$/)
      for (const refused of [
        await send('PATCH', path, { body: { configuration: { limit: 7 } } }),
        await send('PATCH', path, { body: { externalIds: ['7'] } }),
        await setLimit(path, 7),
        await send('DELETE', `${path}/configuration/region`),
      ]) {
        assert.deepEqual([refused.status, refused.json.error.code], [428, 'precondition_required'])
      }
      assert.equal((await send('GET', path)).etag, before.etag)
    }
  })

  it('of a version that is gone is refused with 412', async () => {
    for (const path of [account, site]) {
      const { etag } = await send('GET', path)
      const first = await setLimit(path, 1, etag)
      assert.equal(first.status, 200)
      assert.notEqual(first.etag, etag)
      for (const stale of [
        await setLimit(path, 2, etag),
        await send('PATCH', path, { ifMatch: etag, body: { configuration: { limit: 2 } } }),
        await send('PATCH', path, { ifMatch: etag, body: { externalIds: ['2'] } }),
        await send('DELETE', `${path}/configuration/limit`, { ifMatch: etag }),
      ]) {
        assert.deepEqual([stale.status, stale.json.error.code], [412, 'precondition_failed'])
        assert.ok(stale.json.error.message.includes(first.etag))
      }
      const now = await send('GET', path)
      assert.deepEqual([now.etag, now.json.configuration.limit], [first.etag, 1])
      const second = await send('PATCH', path, { ifMatch: now.etag, body: { externalIds: ['a'] } })
      assert.equal(second.status, 200)
      assert.notEqual(second.etag, now.etag)
    }
  })

  it('is one of many at the same time: the others are refused', async () => {
    const { etag } = await send('GET', site)
    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => setLimit(site, 100 + n, etag)))
    assert.deepEqual(all.map(({ status }) => status).toSorted(), [200, ...Array(19).fill(412)])
    const [won] = all.filter(({ status }) => status === 200)
    assert.equal((await send('GET', site)).json.configuration.limit, won?.json.configuration.limit)
  })

  it('takes a list of ETags, and `*`, and no forged, weak or foreign one', async () => {
    const { etag } = await send('GET', site)
    const other = (await send('GET', account)).etag
    for (const wrong of [`W/${etag}`, '""', '"*"', other, etag.slice(1, -1), `${'"a",'.repeat(500)}"b"`]) {
      assert.equal((await setLimit(site, 3, wrong)).status, 412, wrong.slice(0, 40))
    }
    const listed = await setLimit(site, 3, `"a", ${etag}`)
    assert.equal(listed.status, 200)
    assert.equal((await setLimit(site, 4, '*')).status, 200)
  })

  it('by a script needs no If-Match, and is refused with a stale one', async () => {
    const body = { configuration: { region: 'us', own: 1 } }
    const plain = await send('PATCH', site, { as: token, body })
    assert.deepEqual([plain.status, plain.json.configuration], [200, { region: 'us', own: 1 }])
    const stale = await send('PATCH', site, { as: token, body, ifMatch: '"gone"' })
    assert.equal(stale.status, 412)
    assert.equal((await send('PATCH', site, { as: token, body, ifMatch: plain.etag })).status, 200)
  })

  it('by a person is not outdated by what the script stores beside the settings', async () => {
    const write = (more: object) =>
      send('PATCH', site, { as: token, body: { configuration: { region: 'us', ...more } } })
    await write({ connection: { access_token: 'a' }, count: 1 })
    const { etag } = await send('GET', site)
    const refreshed = await write({ connection: { access_token: 'b' }, count: 2 })
    assert.deepEqual([refreshed.status, refreshed.etag], [200, etag])
    assert.equal((await setLimit(site, 5, etag)).status, 200)
    const disconnected = await write({ count: 3 })
    assert.notEqual(disconnected.etag, etag)
  })
})
