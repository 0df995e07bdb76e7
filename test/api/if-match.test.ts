import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { runAnnex } from '../cli/support/run-annex.ts'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'
import { skipWithoutNginx, startNginx } from '../support/nginx.ts'

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

  it('by a person without If-Match is refused with 428, and changes nothing', async () => {
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

  it('of an outdated version is refused with 412', async () => {
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

  it('is one of twenty simultaneous ones to succeed: the others are refused', async () => {
    const { etag } = await send('GET', site)
    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => setLimit(site, 100 + n, etag)))
    assert.deepEqual(all.map(({ status }) => status).toSorted(), [200, ...Array(19).fill(412)])
    const [won] = all.filter(({ status }) => status === 200)
    assert.equal((await send('GET', site)).json.configuration.limit, won?.json.configuration.limit)
  })

  it('accepts a list of ETags and `*`, and rejects forged and foreign ones', async () => {
    const { etag } = await send('GET', site)
    const other = (await send('GET', account)).etag
    const inner = etag.slice(1, -1)
    for (const wrong of [
      ...['""', '"*"', 'W/*', 'W/', 'W/""', ',', other, `W/${other}`, inner, `W/${inner}`],
      ...[
        `${'"a",'.repeat(500)}"b"`,
        `"${inner}`,
        `${inner}"`,
        `"a${inner}"`,
        `w/${etag}`,
        `W/ ${etag}`,
        `W/W/${etag}`,
      ],
      ...[
        `"${inner}-"`,
        `"${inner};"`,
        `"${inner}gzip"`,
        `"${inner}-gzip-gzip"`,
        `"${inner}-zip"`,
        `"-gzip"`,
      ],
      ...[`"${inner};a=gzip"`, `${etag}-gzip`, `"a ${etag}"`, `"a, ${inner}"`],
    ]) {
      assert.equal((await setLimit(site, 3, wrong)).status, 412, wrong.slice(0, 40))
    }
    const listed = await setLimit(site, 3, `"a", ${etag}`)
    assert.equal(listed.status, 200)
    assert.equal((await setLimit(site, 4, '*')).status, 200)
  })

  it('accepts an ETag in the form of a compressing proxy', async () => {
    const plain = (etag: string) => etag.slice(1, -1)
    const written: ((etag: string) => string)[] = [
      (etag) => `W/${etag}`,
      ...['-gzip', '--gzip', ';gzip', '-br', '-deflate', '-zstd'].flatMap((mark) => [
        (etag: string) => `"${plain(etag)}${mark}"`,
        (etag: string) => `W/"${plain(etag)}${mark}"`,
      ]),
      (etag) => `"a", W/"b" ,\tW/${etag}`,
      (etag) => `"a,b","${plain(etag)}-gzip", "c"`,
    ]
    for (const [n, write] of written.entries()) {
      const { etag } = await send('GET', site)
      const edited = await setLimit(site, 50 + n, write(etag))
      assert.equal(edited.status, 200, write(etag))
      assert.equal((await setLimit(site, 3, write(etag))).status, 412, 'of a version that is gone')
    }
  })

  describe('behind nginx with gzip', { skip: skipWithoutNginx() }, () => {
    let nginx: Awaited<ReturnType<typeof startNginx>>
    before(async () => {
      nginx = await startNginx(`gzip on; gzip_types application/json; gzip_min_length 1; gzip_proxied any;
        location / { proxy_pass ${annex.url}; proxy_http_version 1.1; proxy_set_header Host $http_host; }`)
    })
    after(() => nginx?.close())

    it('accepts the ETag that the proxy sends', async () => {
      const authorization = `Bearer ${operator}`
      for (const path of [account, site]) {
        const read = await fetch(nginx.url + path, { headers: { authorization } })
        const etag = read.headers.get('etag') ?? ''
        assert.match(etag, /^W\/"/)
        for (const status of [200, 412]) {
          const edited = await fetch(`${nginx.url}${path}/configuration/limit`, {
            method: 'PUT',
            headers: { authorization, 'if-match': etag },
            body: JSON.stringify({ value: 1000 + status }),
          })
          assert.equal(edited.status, status)
        }
      }
    })

    it('accepts the ETag of a page', async () => {
      const page = `/v1/spaces/${(await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'gzip', title: 'Gzip' })).json.id}/content/page/one`
      const put = (title: string, etag: string) =>
        fetch(nginx.url + page, {
          method: 'PUT',
          headers: { authorization: `Bearer ${operator}`, 'if-match': etag },
          body: JSON.stringify({ title, markdown: 'a' }),
        })
      const first = await put('one', '*')
      assert.equal(first.status, 201)
      const read = await fetch(nginx.url + page, { headers: { authorization: `Bearer ${operator}` } })
      const etag = read.headers.get('etag') ?? ''
      assert.match(etag, /^W\/"/)
      assert.deepEqual([(await put('two', etag)).status, (await put('three', etag)).status], [200, 412])
    })

    it('lets `annex configure` change a setting', async () => {
      const env = {
        ANNEX_URL: nginx.url,
        ANNEX_TOKEN: readFileSync(join(annex.dataDir, 'cli.token'), 'utf8').trim(),
      }
      const { code, stderr } = await runAnnex(['configure', 'settled', '--set', 'region=us'], { env })
      assert.equal(code, 0, stderr)
      assert.equal((await send('GET', account)).json.configuration.region, 'us')
    })
  })

  it('by a script needs no If-Match, and is refused with a stale one', async () => {
    const body = { configuration: { region: 'us', own: 1 } }
    const plain = await send('PATCH', site, { as: token, body })
    assert.deepEqual([plain.status, plain.json.configuration], [200, { region: 'us', own: 1 }])
    const stale = await send('PATCH', site, { as: token, body, ifMatch: '"gone"' })
    assert.equal(stale.status, 412)
    assert.equal((await send('PATCH', site, { as: token, body, ifMatch: plain.etag })).status, 200)
  })

  it('by a person is not outdated by private values of the script', async () => {
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
