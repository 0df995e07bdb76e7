import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Answered, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const own = 'https://docs.example.com'
const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { api, environment }) => {
    const { method, path, body } = await request.json()
    const { installation, siteInstallation } = environment
    const organization = installation.target.organization
    try {
      const { data } = path === undefined
        ? await api.orgs[method](organization, siteInstallation.site, body)
        : await api.request({ path: '/orgs/' + organization + '/sites/' + siteInstallation.site + path })
      return Response.json(data)
    } catch (error) {
      return Response.json({ message: error.message, status: error.status }, { status: error.status ?? 500 })
    }
  },
})
`

describe('views of a site', () => {
  let annex: Annex
  const sites: { id: string; key: string }[] = []
  let otherSpace: string
  before(async () => {
    const scopes = ['site:adaptive:read', 'site:adaptive:write']
    annex = await startAnnex({
      plugins: {
        flags: { script, scopes },
        reader: { script, scopes: scopes.slice(0, 1) },
        'sign-in': { script, scopes: ['site:visitor:auth'] },
      },
      flags: { RATE_LIMIT_VISITOR: '100' },
    })
    const acme = (await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })).json.id
    for (const [organization, origin] of [
      ['home', own],
      [acme, 'https://acme.example'],
    ]) {
      const base = `/v1/orgs/${organization}/sites`
      const { id } = (await annex.api('POST', base, { slug: 'docs', title: 'Docs' })).json
      const { json } = await annex.api('PUT', `${base}/${id}/script`, { origins: [origin] })
      sites.push({ id, key: json.key })
    }
    otherSpace = (await annex.api('POST', `/v1/orgs/${acme}/spaces`, { slug: 's', title: 'S' })).json.id
  })
  after(() => annex.close())

  type Sent = { site?: string; origin?: string | undefined; to?: string; headers?: object; body?: object }
  async function send({ site, origin = own, to = 'views', headers, body }: Sent): Promise<Answered> {
    const response = await fetch(`${annex.url}/v1/sites/${site ?? sites[0]?.id}/${to}`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', ...(origin !== '' && { origin }), ...headers },
      body: JSON.stringify({ key: sites[0]?.key, url: `${own}/start`, ...body }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: text && JSON.parse(text) }
  }

  const count = async (site = 0): Promise<number> => {
    const organization = site === 0 ? 'home' : 'acme'
    const path = `/v1/orgs/${organization}/sites/${sites[site]?.id}/views`
    return (await annex.api('GET', `${path}?limit=200`)).json.count
  }

  it('are accepted from a page of the site, which may read the answer', async () => {
    const taken = await send({})
    assert.equal(taken.status, 202, taken.text)
    assert.match(taken.json.eventId, /^evt_/)
    assert.equal(taken.headers.get('access-control-allow-origin'), own)
    assert.equal(taken.headers.get('access-control-allow-credentials'), null)
    assert.match(taken.headers.get('vary') ?? '', /origin/i)
    assert.equal(await count(), 1)
  })

  describe('and cookies', () => {
    const settings = '/v1/orgs/home/sites/docs/script'
    const name = (cookies: unknown) => annex.api('PUT', settings, { cookies })
    const seen = async (body: object): Promise<Json> => {
      const { status, json, text } = await send({ body })
      assert.equal(status, 202, text)
      const { items } = (await annex.api('GET', '/v1/orgs/home/sites/docs/views?limit=5')).json
      return items.find(({ eventId }: Json) => eventId === json.eventId).visitor.cookies
    }
    const sent = { consent: 'yes; a=1 %3D"', session: 's3cret', __proto__x: 'p' }

    it('have none while the site names none', async () => {
      assert.deepEqual((await annex.api('GET', settings)).json.cookies, [])
      assert.deepEqual(await seen({ cookies: sent }), {})
    })

    it('have only the cookies that the site names', async () => {
      const { json, status } = await name(['consent', '__proto__', 'constructor'])
      assert.deepEqual([status, json.cookies], [200, ['consent', '__proto__', 'constructor']])
      assert.deepEqual(await seen({ cookies: sent }), { consent: sent.consent })
      assert.deepEqual(await seen({ cookies: { Consent: 'x', 'consent ': 'y', session: 'z' } }), {})
      assert.deepEqual(await seen({}), {})
      assert.deepEqual(await seen({ cookies: { consent: '' } }), { consent: '' })
      const most = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`c${n}`, 'x'.repeat(1000)]))
      assert.deepEqual(await seen({ cookies: most }), {})
      assert.deepEqual(await seen({ cookies: { consent: 'é'.repeat(4096) } }), { consent: 'é'.repeat(4096) })
    })

    it('are refused with too many, too long or wrongly named cookies', async () => {
      const wrong: unknown[] = [
        { consent: 'x'.repeat(4097) },
        { consent: 1 },
        { consent: { a: 'b' } },
        ['consent'],
        'consent=yes',
        { ['n'.repeat(101)]: 'x' },
        Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`c${n}`, ''])),
      ]
      for (const cookies of wrong) {
        const { status, text } = await send({ body: { cookies } })
        assert.equal(status, 422, text)
      }
      const names: unknown[] = [
        ['a b'],
        ['a;b'],
        ['a=b'],
        ['</script>'],
        ['a"b'],
        [''],
        ['é'],
        ['n'.repeat(101)],
        ['a', 'a'],
        Array.from({ length: 11 }, (_, n) => `c${n}`),
        'consent',
        [1],
      ]
      for (const cookies of names) assert.equal((await name(cookies)).status, 422, JSON.stringify(cookies))
      assert.deepEqual((await annex.api('GET', settings)).json.cookies, [
        'consent',
        '__proto__',
        'constructor',
      ])
    })

    it('have none with feedback', async () => {
      const { status } = await send({ to: 'feedback', body: { rating: 'good', cookies: { consent: 'x' } } })
      assert.equal(status, 422)
    })

    it('have none again after the site clears its list', async () => {
      await annex.api('PUT', settings, { origins: [own] })
      assert.equal((await annex.api('GET', settings)).json.cookies.length, 3)
      assert.deepEqual((await name([])).json.cookies, [])
      assert.deepEqual(await seen({ cookies: sent }), {})
      const script = await fetch(`${annex.url}/v1/sites/${sites[0]?.id}/script.js`)
      assert.doesNotMatch(await script.text(), /cookie/)
    })
  })

  it('may be sent as JSON by pages of the site, and the preflight refuses other pages', async () => {
    for (const to of ['views', 'feedback']) {
      const ask = (origin: string) =>
        fetch(`${annex.url}/v1/sites/${sites[0]?.id}/${to}`, {
          method: 'OPTIONS',
          headers: {
            origin,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'content-type',
          },
        })
      const allowed = await ask(own)
      const header = (name: string) => allowed.headers.get(`access-control-allow-${name}`)
      assert.deepEqual(
        [allowed.status, header('origin'), header('methods'), header('headers'), header('credentials')],
        [204, own, 'POST', 'content-type', null],
      )
      assert.match(String(allowed.headers.get('vary')), /origin/i)
      for (const other of ['https://acme.example', 'null', `${own}.evil.example`]) {
        const refused = await ask(other)
        const names = [...refused.headers.keys()].filter((name) => name.startsWith('access-control-'))
        assert.deepEqual([refused.status, names], [204, []])
      }
    }
    const taken = await send({ headers: { 'content-type': 'application/json' } })
    assert.deepEqual([taken.status, taken.headers.get('access-control-allow-origin')], [202, own])
    const missing = await fetch(`${annex.url}/v1/sites/site_none/views`, { method: 'OPTIONS' })
    assert.equal(missing.status, 404)
  })

  it('cannot be forged for another site', async () => {
    const before = [await count(0), await count(1)]
    const [home, acme] = sites
    const forgeries: [what: string, sent: Sent, status: number][] = [
      ['a page elsewhere with this site’s key', { origin: 'https://evil.example' }, 403],
      [
        'a page elsewhere that lies about its address',
        { origin: 'https://evil.example', body: { url: own } },
        403,
      ],
      ['a page of this site about another address', { body: { url: 'https://evil.example/x' } }, 403],
      ['a name that begins alike', { origin: `${own}.evil.example` }, 403],
      [
        'another scheme',
        { origin: 'http://docs.example.com', body: { url: 'http://docs.example.com/' } },
        403,
      ],
      ['another port', { origin: `${own}:8443`, body: { url: `${own}:8443/` } }, 403],
      ['a sandboxed frame', { origin: 'null' }, 403],
      ['no browser', { origin: '' }, 403],
      ['this site’s key for another site', { site: acme?.id ?? '' }, 403],
      [
        'this site’s key for another site, from its origin',
        { site: acme?.id ?? '', origin: 'https://acme.example' },
        403,
      ],
      ['another site’s key for this site', { body: { key: acme?.key } }, 403],
      ['no key', { body: { key: undefined } }, 422],
      ['a site in the body', { body: { siteId: acme?.id } }, 422],
      ['an installation in the body', { body: { installationId: 'inst_1' } }, 422],
      ['an event id in the body', { body: { eventId: 'evt_1' } }, 422],
      ['a type in the body', { body: { type: 'space_content_updated' } }, 422],
      ['a visitor in the body', { body: { visitor: { ip: '203.0.113.1' } } }, 422],
      ['an address with a script', { body: { url: 'javascript:alert(1)' } }, 403],
      ['an address that is none', { body: { url: '/start' } }, 422],
      ['a site that does not exist', { site: 'site_0' }, 404],
      ['a site by its slug', { site: 'docs' }, 404],
      [
        'feedback for a space of another organization',
        { to: 'feedback', body: { rating: 'bad', spaceId: otherSpace } },
        404,
      ],
      ['a body of a megabyte', { body: { referrer: 'x'.repeat(1024 * 1024) } }, 413],
    ]
    assert.notEqual(home?.key, acme?.key)
    for (const [what, sent, status] of forgeries) {
      const answer = await send(sent)
      assert.equal(answer.status, status, `${what}: ${answer.text}`)
    }
    assert.deepEqual([await count(0), await count(1)], before)
  })

  it('have the address of the connection, and ignore headers of proxies', async () => {
    await send({ headers: { 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9' } })
    const { json } = await annex.api('GET', `/v1/orgs/home/sites/${sites[0]?.id}/views?limit=1`)
    assert.equal(json.items[0].visitor.ip, '127.0.0.1')
  })

  it('are refused above the rate limit, and with an old key', async () => {
    const [, acme] = sites
    const sent = { site: acme?.id ?? '', origin: 'https://acme.example' }
    const body = { key: acme?.key, url: 'https://acme.example/' }
    const flood = await Promise.all(Array.from({ length: 150 }, () => send({ ...sent, body })))
    assert.ok(flood.some(({ status }) => status === 429))
    assert.ok(flood.every(({ status }) => status === 202 || status === 429))
    const before = await send({})
    assert.equal(before.status, 202, 'a flood at one site leaves the others alone')
    const path = `/v1/orgs/home/sites/${sites[0]?.id}/script`
    const renewed = await annex.api('PUT', path, { newKey: true })
    assert.deepEqual(renewed.json.origins, [own])
    assert.equal((await send({})).status, 403)
    assert.equal((await send({ body: { key: renewed.json.key } })).status, 202)
    const audit = await annex.api('GET', `/v1/audit?subject=${sites[0]?.id}&action=site.change`)
    assert.deepEqual(audit.json.items[0].after, { publicKey: renewed.json.key })
    assert.deepEqual(audit.json.items[0].before, { publicKey: sites[0]?.key })
    if (sites[0]) sites[0].key = renewed.json.key
  })

  it('come from a script that any page can load, with values of its own site only', async () => {
    const response = await fetch(`${annex.url}/v1/sites/${sites[0]?.id}/script.js`)
    const text = await response.text()
    assert.match(response.headers.get('content-type') ?? '', /javascript/)
    assert.match(response.headers.get('cache-control') ?? '', /public, max-age=300/)
    assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin')
    assert.ok(text.includes(`${annex.url}/v1/sites/${sites[0]?.id}/`))
    assert.ok(text.split('\n').length <= 20)
    assert.doesNotMatch(text, /cookie|localStorage|eval/)
    assert.equal((await fetch(`${annex.url}/v1/sites/site_0/script.js`)).status, 404)
  })

  it('accept only origins in their list of origins', async () => {
    const path = `/v1/orgs/home/sites/${sites[0]?.id}/script`
    for (const origin of [
      '*',
      'null',
      'docs.example.com',
      'https://a.example/x',
      'https://u:p@a.example',
      'ftp://a',
    ]) {
      assert.equal((await annex.api('PUT', path, { origins: [origin] })).status, 422, origin)
    }
    const { json } = await annex.api('PUT', path, { origins: ['https://Docs.Example.com:443', own] })
    assert.deepEqual(json.origins, [own, own])
  })

  it('have an adaptive schema, which scripts with the scope read and write', async () => {
    const ask = async (endpoint: string, method: string, body?: object): Promise<[number, Json]> => {
      const response = await fetch(endpoint, { method: 'POST', body: JSON.stringify({ method, body }) })
      return [response.status, await response.json()]
    }
    const { endpoint } = await installSample(annex, 'flags', 'site')
    assert.equal((await ask(endpoint, 'getSiteAdaptiveSchema'))[0], 404)
    const jsonSchema = {
      type: 'object',
      properties: { beta: { type: 'boolean' } },
      additionalProperties: false,
    }
    assert.deepEqual(await ask(endpoint, 'updateSiteAdaptiveSchema', { jsonSchema }), [200, { jsonSchema }])
    const reader = await installSample(annex, 'reader', 'site')
    assert.deepEqual(await ask(reader.endpoint, 'getSiteAdaptiveSchema'), [200, { jsonSchema }])
    assert.equal((await ask(reader.endpoint, 'updateSiteAdaptiveSchema', { jsonSchema }))[0], 403)
    const path = `/v1/orgs/home/sites/${annex.server.samples.site}/adaptive-schema`
    assert.deepEqual((await annex.api('GET', path)).json, { jsonSchema })
    assert.equal((await annex.api('PUT', path, { jsonSchema: { type: 'string' } })).status, 422)
    const wrong: [pointer: string, properties: object][] = [
      ['/jsonSchema/properties/beta', { beta: 'boolean' }],
      ['/jsonSchema/properties/beta/type', { beta: { type: 'text' } }],
      ['/jsonSchema/properties/beta/enum', { beta: { enum: 'yes' } }],
      ['/jsonSchema/properties/a/properties/b', { a: { type: 'object', properties: { b: [] } } }],
    ]
    for (const [pointer, properties] of wrong) {
      const { status, json } = await annex.api('PUT', path, { jsonSchema: { type: 'object', properties } })
      assert.equal(status, 422, pointer)
      assert.ok(
        json.error.details.some((one: Json) => one.path.startsWith(pointer)),
        pointer,
      )
    }
    assert.deepEqual((await annex.api('GET', path)).json, { jsonSchema })
  })

  it('have a schema that a person replaces and removes as it was read', async () => {
    const made = await annex.api('POST', '/v1/orgs/home/sites', { slug: 'audience', title: 'Audience' })
    const path = `/v1/orgs/home/sites/${made.json.id}/adaptive-schema`
    const send = async (method: string, ifMatch?: string, schema?: object) => {
      const response = await fetch(annex.url + path, {
        method,
        headers: {
          authorization: `Bearer ${admin}`,
          ...(ifMatch !== undefined && { 'if-match': ifMatch }),
          ...(schema && { 'content-type': 'application/json' }),
        },
        ...(schema && { body: JSON.stringify({ jsonSchema: schema }) }),
      })
      return [response.status, response.headers.get('etag') ?? ''] as const
    }
    const schemaOf = (...names: string[]) => ({
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    })
    const { token: admin } = (await annex.api('POST', '/v1/orgs/home/tokens', { role: 'admin' })).json
    assert.equal((await send('GET'))[0], 404)
    assert.equal((await send('DELETE', '*'))[0], 404, 'there is none')
    assert.equal((await send('PUT', '"old"', schemaOf('a')))[0], 412, 'it was removed')
    const [status, first] = await send('PUT', undefined, schemaOf('a'))
    assert.equal(status, 200, 'the first schema needs no header')
    assert.deepEqual(await send('GET'), [200, first])
    assert.equal((await send('PUT', undefined, schemaOf('b')))[0], 428)
    const [, second] = await send('PUT', first, schemaOf('b'))
    assert.notEqual(second, first)
    assert.equal((await send('PUT', first, schemaOf('c')))[0], 412)
    assert.equal((await send('DELETE'))[0], 428)
    assert.equal((await send('DELETE', first))[0], 412)
    assert.deepEqual(await send('GET'), [200, second], 'nothing was changed')
    const races = await Promise.all(['d', 'e', 'f', 'g'].map((name) => send('PUT', second, schemaOf(name))))
    assert.deepEqual(races.map(([status]) => status).sort(), [200, 412, 412, 412], 'one is first')
    assert.equal((await send('PUT', '*', schemaOf('h')))[0], 200)
    const [, last] = await send('GET')
    assert.equal((await send('DELETE', `W/${last}`))[0], 204)
    assert.equal((await send('GET'))[0], 404)
    assert.equal(
      (await annex.api('GET', `/v1/orgs/home/sites/${made.json.id}`)).json.adaptiveContent.enabled,
      false,
    )
    const [entry] = (await annex.api('GET', `/v1/audit?subject=${made.json.id}`)).json.items
    assert.deepEqual([entry.action, entry.after], ['site.change', { adaptiveSchema: null }])
    assert.match(entry.before.adaptiveSchema, /"h"/)
  })

  it('name the integration that signs visitors in', async () => {
    const path = `/v1/orgs/home/sites/${annex.server.samples.site}/publishing/auth`
    const none = await annex.api('GET', path)
    assert.deepEqual(none.json, { object: 'site-authentication', backend: 'none' })
    const { endpoint, id } = await installSample(annex, 'sign-in', 'site')
    const { json } = await until(
      () => annex.api('GET', path),
      ({ json }) => json.backend === 'integration',
    )
    assert.deepEqual([json.integration, json.installation], ['sign-in', id])
    assert.match(json.loginUrl, /\/v1\/integrations\/sign-in\/installations\/inst_.+\/visitor-auth$/)
    const ask = async (to: string): Promise<Response> =>
      fetch(to, { method: 'POST', body: JSON.stringify({ path: '/publishing/auth' }) })
    const { privateKey, ...shown } = (await (await ask(endpoint)).json()) as Json
    assert.deepEqual(shown, json)
    assert.match(privateKey, /^whsec_/)
    const flags = await annex.api('GET', '/v1/integrations/flags/installations')
    const { urls } = (
      await annex.api(
        'GET',
        `/v1/integrations/flags/installations/${flags.json.items[0].id}/sites/${annex.server.samples.site}`,
      )
    ).json
    assert.equal((await ask(urls.publicEndpoint)).status, 403)
  })
})
