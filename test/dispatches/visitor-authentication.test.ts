import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { verifyVisitorToken } from '../../host/installations/visitor-token.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const door = `
import { createIntegration, ExposableError } from '@annex/runtime'
export default createIntegration({
  fetch_visitor_authentication: async (event, { environment }) => {
    const { siteInstallation, signingSecrets } = environment
    if (event.location === '/page') return new Response('<script>alert(1)</script>', { headers: { 'content-type': 'text/html' } })
    if (event.location === '/throw') throw new Error('no door')
    if (event.location === '/closed') throw new ExposableError('The door is closed', 403)
    if (event.location === '/remember') {
      const path = (site) => '/v1/integrations/door/installations/' + event.installationId + '/sites/' + site + '/visitor-auth'
      const headers = new Headers()
      headers.append('set-cookie', 'hint=7; HttpOnly; Path=' + path(event.siteId))
      headers.append('set-cookie', 'other=1; Path=' + path('site_0'))
      return new Response(null, { headers })
    }
    if (event.location === '/missing') return new Response('no page', { status: 404 })
    const to = new URL('https://provider.example/' + (event.action ?? 'authorize'))
    to.searchParams.set('site', siteInstallation.site + ' ' + event.siteId)
    to.searchParams.set('location', event.location ?? 'none')
    if (Object.keys(event.cookies).length > 0) to.searchParams.set('cookies', JSON.stringify(event.cookies))
    to.searchParams.set('secret', signingSecrets.siteInstallation.slice(0, 6))
    return new Response(null, { status: 302, headers: { location: to.href, 'set-cookie': 'nonce=1; Path=/; HttpOnly' } })
  },
})`

/** As sign-ins of other platforms do: the signing secret signs a token, and the site gets it in its address. */
const gate = `
import { createIntegration } from '@annex/runtime'
const encode = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const utf8 = (text) => new TextEncoder().encode(text)
export default createIntegration({
  fetch_visitor_authentication: async (event, { environment, api }) => {
    const { installation, siteInstallation, signingSecrets } = environment
    const { data } = await api.orgs.getSitePublishingAuthById(installation.target.organization, siteInstallation.site)
    if (data.privateKey !== signingSecrets.siteInstallation) throw new Error('another key')
    const claims = { plan: 'pro', exp: Math.floor(Date.now() / 1000) + 3600 }
    const text = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) => encode(utf8(JSON.stringify(part)))).join('.')
    const key = await crypto.subtle.importKey('raw', utf8(data.privateKey), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    const signature = encode(new Uint8Array(await crypto.subtle.sign('HMAC', key, utf8(text))))
    return Response.redirect('https://docs.example' + event.location + '?jwt_token=' + text + '.' + signature)
  },
})`

describe('the token of a visitor', () => {
  let annex: Annex
  let path: string
  let at: string
  let token: string
  before(async () => {
    annex = await startAnnex({ plugins: { gate: { script: gate, scopes: ['site:visitor:auth'] } } })
    path = (await installSample(annex, 'gate', 'site')).path
    at = `/v1/orgs/home/sites/${annex.server.samples.site}/publishing/auth`
    await until(
      () => annex.api('GET', at),
      ({ json }) => json.backend === 'integration',
    )
    token = await signIn()
  })
  after(() => annex.close())

  async function signIn(): Promise<string> {
    const response = await fetch(`${annex.url}${path}/visitor-auth?location=/start`, { redirect: 'manual' })
    return new URL(response.headers.get('location') ?? '').searchParams.get('jwt_token') ?? ''
  }
  const verify = async (text: string): Promise<Json> =>
    (await annex.api('POST', `${at}/verify`, { token: text })).json

  it('is signed by the script and verified by Annex', async () => {
    const { valid, claims, expiresAt } = await verify(token)
    assert.deepEqual([valid, claims.plan, Date.parse(expiresAt)], [true, 'pro', claims.exp * 1000])
  })

  it('is signed with a key that is hidden from people', async () => {
    assert.equal((await annex.api('GET', at)).json.privateKey, undefined)
  })

  it('is valid during a rotation of the key, and invalid after it', async () => {
    await annex.api('POST', `${path}/signing-secret`, {})
    assert.equal((await verify(token)).valid, true)
    assert.equal((await verify(await signIn())).valid, true)
    await annex.api('DELETE', `${path}/signing-secret/previous`)
    const { valid, reason, claims } = await verify(token)
    assert.deepEqual([valid, claims], [false, undefined])
    assert.match(reason, /signature/)
    token = await signIn()
  })

  it('is refused when it is forged', async () => {
    const [head = '', payload = '', signature = ''] = token.split('.')
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const forged: Record<string, string> = {
      'no signature': `${part({ alg: 'none' })}.${payload}.`,
      'the signature of another algorithm': `${part({ alg: 'none' })}.${payload}.${signature}`,
      'other claims': `${head}.${part({ plan: 'free', exp: 4e9 })}.${signature}`,
      'a key of its own': signed({ exp: 4e9 }, 'key'),
      'an empty key': signed({ exp: 4e9 }, ''),
      'no JSON': `${head}.e30x.${signature}`,
      'a list': `${head}.${part([])}.${signature}`,
      'two tokens': `${token}.${token}`,
      'a line break': `${token}\n`,
      'an empty text': '',
      'a long text': 'a'.repeat(16_000),
    }
    for (const [name, text] of Object.entries(forged)) {
      const { valid, reason } = await verify(text)
      assert.equal(valid, false, name)
      assert.match(reason, /^It|signature/)
    }
  })

  it('is refused without an expiry, after it, and before its start', () => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    const second = now / 1000
    const reasonOf = (claims: object, header?: object): string | undefined => {
      const verified = verifyVisitorToken(signed(claims, 'key', header), ['other', 'key'], now)
      return verified.valid ? undefined : verified.reason
    }
    assert.equal(reasonOf({ exp: second + 1, nbf: second }), undefined)
    assert.equal(reasonOf({ exp: 1e300 }), undefined)
    assert.match(reasonOf({}) ?? '', /no "exp"/)
    assert.match(reasonOf({ exp: '4e9' }) ?? '', /no "exp"/)
    assert.match(reasonOf({ exp: second }) ?? '', /expired/)
    assert.match(reasonOf({ exp: second + 9, nbf: second + 1 }) ?? '', /does not count yet/)
    assert.match(reasonOf({ exp: second + 9 }, { alg: 'HS256', crit: ['b64'], b64: false }) ?? '', /HS256/)
    assert.match(reasonOf({ exp: second + 9 }, { alg: 'HS512' }) ?? '', /HS256/)
  })
})

function signed(claims: object, key: string, header: object = { alg: 'HS256' }): string {
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

describe('the sign-in of a site', () => {
  let annex: Annex
  let path: string
  let endpoint: string
  before(async () => {
    const scopes = ['site:visitor:auth']
    annex = await startAnnex({ plugins: { door: { script: door, scopes }, unscoped: { script: door } } })
    const installed = await installSample(annex, 'door', 'site')
    path = installed.path
    endpoint = installed.endpoint
  })
  after(() => annex.close())

  const visit = (query = '', of = path) =>
    fetch(`${annex.url}${of}/visitor-auth${query}`, { redirect: 'manual' })
  const errorOf = async (response: Response): Promise<Json> => ((await response.json()) as Json).error

  it('is the redirect of the script', async () => {
    const response = await visit('?location=/guides/start%3Fa%3D1')
    assert.equal(response.status, 302)
    const to = new URL(response.headers.get('location') ?? '')
    const { site } = annex.server.samples
    assert.deepEqual(Object.fromEntries(to.searchParams), {
      site: `${site} ${site}`,
      location: '/guides/start?a=1',
      secret: 'whsec_',
    })
    assert.equal(to.pathname, '/authorize')
    const request = response.headers.get('x-request-id')
    const receipt = await until(
      async () => (await annex.api('GET', `/v1/receipts?request=${request}`)).json.items[0],
      (found) => found !== undefined,
    )
    assert.deepEqual([receipt.type, receipt.outcome], ['fetch_visitor_authentication', 'ok'])
  })

  it('gets the action of a visitor who signs out', async () => {
    const response = await visit('?action=logout')
    assert.match(response.headers.get('location') ?? '', /^https:\/\/provider\.example\/logout/)
    assert.equal((await visit('?action=other')).status, 400)
  })

  it('keeps its cookies at the endpoint of the site, and its pages outside Annex’s URL origin', async () => {
    const cookie = (await visit()).headers.get('set-cookie')
    assert.equal(cookie, `nonce=1; HttpOnly; Path=${new URL(endpoint).pathname}`)
    const page = await visit('?location=/page')
    assert.match(page.headers.get('content-security-policy') ?? '', /^sandbox /)
    assert.doesNotMatch(page.headers.get('content-security-policy') ?? '', /allow-same-origin/)
    assert.equal((await visit('?location=/missing')).status, 404)
  })

  it('reads its own cookies only', async () => {
    const at = new URL(`${annex.url}${path}/visitor-auth`)
    const set = await visit('?location=/remember')
    const [here, there] = set.headers.getSetCookie()
    assert.equal(here, `hint=7; HttpOnly; Path=${at.pathname}`)
    // The sign-in of another site is not its own.
    assert.equal(there, `other=1; Path=${new URL(endpoint).pathname}`)
    const cookie = 'hint=7; annex_session=secret; =nameless; empty=; hint=8'
    const response = await fetch(`${at.href}?action=logout`, { redirect: 'manual', headers: { cookie } })
    const to = new URL(response.headers.get('location') ?? '')
    const cookies = JSON.parse(to.searchParams.get('cookies') ?? '')
    assert.deepEqual(cookies, { hint: '7', empty: '' })
  })

  it('accepts an empty location as the first page', async () => {
    const to = new URL((await visit('?location=')).headers.get('location') ?? '')
    assert.equal(to.searchParams.get('location'), 'none')
  })

  it('accepts a location without its first slash', async () => {
    for (const location of ['guides', 'guides/a.html?b=c.d', 'a-b_c~d#e']) {
      const response = await visit(`?location=${encodeURIComponent(location)}`)
      const to = new URL(response.headers.get('location') ?? '')
      assert.equal(to.searchParams.get('location'), location)
    }
  })

  it('gets a location as a browser resolves it', async () => {
    const resolved = [
      ['/guides/../start', '/start'],
      ['/guides/./a%20b?c=../d#../e', '/guides/a%20b?c=../d#../e'],
      ['/guides/%2e%2e/%2e%2e/start', '/start'],
      ['guides/../start', 'start'],
      ['/a/..', '/'],
      ['/a//b', '/a//b'],
      ['/100%', '/100%'],
    ]
    for (const [location = '', path] of resolved) {
      const response = await visit(`?location=${encodeURIComponent(location)}`)
      const to = new URL(response.headers.get('location') ?? '')
      assert.equal(to.searchParams.get('location'), path, location)
    }
  })

  it('refuses a location that leads to another host', async () => {
    const elsewhere = [
      ...['//evil.example', '/\\evil.example', '\\\\evil.example', 'https://evil.example', '@evil.example'],
      ...[
        '.evil.example',
        ...['evil.example/a', 'a:80/b', 'a%2eexample', 'ä/b', '80@evil.example'],
        'javascript:alert(1)',
        '/\t/evil.example',
        '/a\nb',
        '/ x',
        '/a\\b',
        `/${'a'.repeat(3000)}`,
      ],
      ...['/a/..//evil.example', '/..//evil.example', '/.//evil.example', '/%2e%2e//evil.example'],
      ...['/a/%2E./b/..//..//evil.example', 'a/..//evil.example', 'a/../.evil.example', 'a/..//a'],
      ...['/%2Fevil.example', '/%5Cevil.example', '/%09/evil.example'],
      ...['/%0a%2Fevil.example', '/a/../%2f%2fevil.example', '/a/../\\evil.example'],
    ]
    for (const location of elsewhere) {
      const response = await visit(`?location=${encodeURIComponent(location)}`)
      assert.deepEqual([response.status, (await errorOf(response)).code], [400, 'bad_request'], location)
    }
  })

  it('shows errors that the script exposes, and logs others', async () => {
    const closed = await visit('?location=/closed')
    assert.deepEqual([closed.status, (await errorOf(closed)).message], [403, 'The door is closed'])
    const failed = await errorOf(await visit('?location=/throw'))
    assert.equal(failed.code, 'script_failed')
    const { json } = await annex.api('GET', `/v1/logs?request=${failed.requestId}`)
    assert.match(json.items[0].text, /^Error: no door/)
  })

  it('needs the scope site:visitor:auth', async () => {
    const { path: unscoped } = await installSample(annex, 'unscoped', 'site')
    const error = await errorOf(await visit('', unscoped))
    assert.deepEqual([error.code, error.details[0].message], ['missing_scope', 'site:visitor:auth'])
  })
})
