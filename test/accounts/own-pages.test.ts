import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, startAnnex } from '../support/annex.ts'
import {
  createOwnPage,
  type OwnPage,
  type PageAnswer,
  password,
  sendRequest,
  setUp,
} from '../support/own-page.ts'

const refusal = ({ status, json }: PageAnswer) => [status, json.error?.code]
const forbidden = [403, 'forbidden']
const email = 'operator@example.com'

describe('a request of another site', () => {
  let annex: Annex
  let page: OwnPage
  let host: string
  let made = 0
  before(async () => {
    annex = await startAnnex()
    page = await setUp(annex)
    host = new URL(annex.url).host
  })
  after(() => annex.close())

  const cookie = () => [...page.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  /** With the cookie of the person who is signed in: a browser without `SameSite` would send it. */
  const change = (headers: Record<string, string>, body?: string) => {
    made += 1
    const text = body ?? JSON.stringify({ slug: `made-${made}`, title: 'Made' })
    const all = { host, cookie: cookie(), 'content-type': 'application/json', ...headers }
    return sendRequest(`${annex.url}/v1/orgs/home/sites`, 'POST', { headers: all, body: text })
  }
  const read = (headers: Record<string, string>) =>
    sendRequest(`${annex.url}/v1/orgs`, 'GET', { headers: { host, cookie: cookie(), ...headers } })

  it('cannot use the session of the person who visits it', async () => {
    const own = annex.url
    const refused: [string, Record<string, string>][] = [
      ['another site', { 'sec-fetch-site': 'cross-site' }],
      ['another host of the site, or another port', { 'sec-fetch-site': 'same-site' }],
      ['an address that a person types', { 'sec-fetch-site': 'none' }],
      ['in capitals', { 'sec-fetch-site': 'Same-Origin' }],
      ['two values', { 'sec-fetch-site': 'same-origin, cross-site' }],
      ['empty', { 'sec-fetch-site': '' }],
      ['its Origin is ours, but not its site', { 'sec-fetch-site': 'cross-site', origin: own }],
      ['a foreign Origin', { origin: 'https://evil.example' }],
      ['an opaque Origin', { origin: 'null' }],
      ['ours, over HTTPS', { origin: own.replace('http:', 'https:') }],
      ['ours, at another port', { origin: `${own}0` }],
      ['ours, as the beginning of a name', { origin: `${own}.evil.example` }],
      ['ours, with a path', { origin: `${own}/` }],
      ['neither header', {}],
    ]
    for (const [name, headers] of refused) assert.deepEqual(refusal(await change(headers)), forbidden, name)
    const allowed: [string, Record<string, string>][] = [
      ['our page', { 'sec-fetch-site': 'same-origin' }],
      ['our page in a browser without the header', { origin: own }],
    ]
    for (const [name, headers] of allowed) assert.equal((await change(headers)).status, 201, name)
    const { json } = await page.call('GET', '/v1/orgs/home/sites?limit=100')
    assert.equal(json.items.filter(({ slug }: { slug: string }) => slug.startsWith('made-')).length, 2)
  })

  it('cannot read by the session either', async () => {
    for (const site of ['cross-site', 'same-site', 'none', '']) {
      assert.deepEqual(refusal(await read({ 'sec-fetch-site': site })), forbidden, site)
    }
    assert.deepEqual(refusal(await read({ origin: 'https://evil.example' })), forbidden)
    assert.equal((await read({ 'sec-fetch-site': 'same-origin' })).status, 200)
    assert.equal((await read({})).status, 200, 'a browser over HTTP sends neither header with a GET')
  })

  it('cannot send a form, nor JSON under the type of a form', async () => {
    const own = { 'sec-fetch-site': 'same-origin' }
    const json = JSON.stringify({ slug: 'as-a-form', title: 'T' })
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '']
    for (const type of [...types, 'application/jsonp', 'text/plain;application/json', 'x application/json']) {
      assert.deepEqual(refusal(await change({ ...own, 'content-type': type }, json)), forbidden, type)
    }
    const utf8 = 'Application/JSON ; charset=utf-8'
    assert.equal((await change({ ...own, 'content-type': utf8 }, json)).status, 201)
    const bare = await page.call('DELETE', '/v1/sessions/ses_none')
    assert.deepEqual(refusal(bare), [404, 'not_found'], 'a change without a body needs no type')
  })

  it('cannot sign the browser in to an account of its own', async () => {
    const post = (path: string, body: object, headers: Record<string, string>) =>
      sendRequest(annex.url + path, 'POST', {
        headers: { host, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    const bodies: [string, object][] = [
      ['/v1/sessions', { email, password }],
      ['/v1/accounts', { link: 'annex_invite_x', password }],
      ['/v1/resets', { link: 'annex_reset_x', password }],
    ]
    for (const [path, body] of bodies) {
      const others: Record<string, string>[] = [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain' },
      ]
      for (const headers of others) {
        const answer = await post(path, body, headers)
        assert.deepEqual(refusal(answer), forbidden, `${path} ${JSON.stringify(headers)}`)
        assert.equal(answer.headers['set-cookie'], undefined)
      }
    }
    assert.equal((await post('/v1/sessions', { email, password }, {})).status, 201, 'a program')
  })
})

describe('the cookie of a session', () => {
  let annex: Annex
  let port: string
  before(async () => {
    annex = await startAnnex()
    await setUp(annex)
    port = new URL(annex.url).port
  })
  after(() => annex.close())

  const signIn = async (given: Parameters<typeof createOwnPage>[1]) => {
    const page = createOwnPage(annex.url, given)
    await page.call('GET', '/v1/sign-in')
    const { json, status, headers } = await page.call('POST', '/v1/sessions', { email, password })
    assert.equal(status, 201, JSON.stringify(json))
    const [cookie = ''] = headers['set-cookie'] ?? []
    assert.equal((await page.call('GET', '/v1/me')).status, 200, 'the browser sends it back')
    return { page, cookie }
  }
  const flags = 'Max-Age=7776000; Path=/; HttpOnly; SameSite=Strict'

  it('is secure on this machine, and its name has the port', async () => {
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `[::1]:${port}`,
      `annex.localhost:${port}`,
    ]) {
      const { cookie } = await signIn({ host })
      const form = new RegExp(`^__Host-annex_session_${port}=[\\w-]{32}; ${flags}; Secure$`)
      assert.match(cookie, form, host)
    }
  })

  it('is plain for a browser that does not send a secure one back over HTTP', async () => {
    const { cookie } = await signIn({ takesSecure: false })
    assert.match(cookie, new RegExp(`^annex_session_${port}=[\\w-]{32}; ${flags}$`))
  })

  it('is plain at a name of the network over HTTP, where browsers send no Sec-Fetch-Site', async () => {
    const headers = { origin: `http://annex.lan:${port}` }
    const { page, cookie } = await signIn({ host: `annex.lan:${port}`, headers, takesSecure: false })
    assert.match(cookie, new RegExp(`^annex_session_${port}=[\\w-]{32}; ${flags}$`))
    assert.equal((await page.call('GET', '/v1/sign-in')).json.secure, false)
    assert.equal(
      (await createOwnPage(annex.url, { host: 'annex.lan' }).call('GET', '/v1/sign-in')).status,
      200,
    )
  })

  it('is refused beside another one of its name, which another port may have set', async () => {
    const { page } = await signIn({ takesSecure: false })
    const [own] = [...page.cookies].map(([name, value]) => `${name}=${value}`)
    const planted = `annex_session_${port}=planted`
    for (const cookie of [`${planted}; ${own}`, `${own}; ${planted}`]) {
      const { status, json } = await page.call('GET', '/v1/me', undefined, { cookie })
      assert.equal(status, 401, cookie)
      assert.match(json.error.message, /two cookies/)
    }
    assert.equal((await page.call('GET', '/v1/me', undefined, { cookie: `${own}; ${own}` })).status, 200)
  })

  it('is not taken from a plain name where a secure one is there, nor from another port', async () => {
    const { page } = await signIn({})
    page.cookies.set(`annex_session_${port}`, 'planted')
    assert.equal((await page.call('GET', '/v1/me')).status, 200)
    const secret = page.cookies.get(`__Host-annex_session_${port}`) ?? ''
    for (const name of [
      `__Host-annex_session_1${port}`,
      '__Host-annex_session',
      `__host-annex_session_${port}`,
      `annex_session`,
      `Annex_Session_${port}`,
      'session',
    ]) {
      const { status } = await page.call('GET', '/v1/me', undefined, { cookie: `${name}=${secret}` })
      assert.equal(status, 401, name)
    }
  })
})

describe('behind a proxy with HTTPS', () => {
  const publicUrl = 'https://annex.example.com'
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ flags: { PUBLIC_URL: publicUrl } })
  })
  after(() => annex.close())

  it('the cookie and passkeys are those of PUBLIC_URL, whatever host the proxy sends', async () => {
    assert.match(annex.server.setupUrl ?? '', /^https:\/\/annex\.example\.com\/setup#annex_setup_/)
    await setUp(annex, { host: 'annex.example.com' })
    for (const host of ['annex.example.com', '127.0.0.1:8787', 'upstream']) {
      const page = createOwnPage(annex.url, { host })
      const { json: ways } = await page.call('GET', '/v1/sign-in')
      assert.deepEqual(ways.passkeys, { possible: true, host: 'annex.example.com' })
      assert.equal(page.cookies.size, 0, 'no question to the browser')
      const { headers } = await page.call('POST', '/v1/sessions', { email, password })
      assert.match(headers['set-cookie']?.[0] ?? '', /^__Host-annex_session=[\w-]{32}; .*; Secure$/)
      assert.equal((await page.call('GET', '/v1/me')).status, 200)
      const secret = page.cookies.get('__Host-annex_session')
      const plain = await page.call('GET', '/v1/me', undefined, { cookie: `annex_session=${secret}` })
      assert.equal(plain.status, 401, 'a page of HTTP can set the plain name')
    }
  })

  it('a page that came by HTTP is another site', async () => {
    const page = createOwnPage(annex.url, { host: 'annex.example.com' })
    await page.call('POST', '/v1/sessions', { email, password })
    const cookie = [...page.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const ask = (origin: string) =>
      sendRequest(`${annex.url}/v1/orgs/home/sites`, 'POST', {
        headers: { host: 'annex.example.com', cookie, origin, 'content-type': 'application/json' },
        body: JSON.stringify({ slug: 'over-http', title: 'T' }),
      })
    assert.deepEqual(refusal(await ask('http://annex.example.com')), forbidden)
    assert.equal((await ask(publicUrl)).status, 201)
  })
})
