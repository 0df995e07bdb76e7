import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'
import { type OpenidIssuer, startOpenidIssuer } from '../support/openid-issuer.ts'
import { createOwnPage, type OwnPage, type PageAnswer, setUp } from '../support/own-page.ts'

const minuteMs = 60_000
const refusal = ({ status, json }: PageAnswer) => [status, json.error?.code]
const notTaken = [401, 'unauthorized']

/** Shows the cookies that it gets. */
const echo = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request) => new Response(request.headers.get('cookie') ?? 'none'),
})`

const flagsFor = ({ url }: OpenidIssuer) => ({
  OPENID_ISSUER: url,
  OPENID_CLIENT_ID: 'annex',
  OPENID_CLIENT_SECRET: 'secret-of-the-client',
  OPENID_ROLES: 'engineering=home:reader,__proto__=home:admin,constructor=home:admin,1=home:admin',
})

describe('attacks on a sign-in by OpenID', () => {
  let annex: Annex
  let issuer: OpenidIssuer
  let operator: OwnPage
  before(async () => {
    issuer = await startOpenidIssuer()
    annex = await startAnnex({
      plugins: { echo: { script: echo } },
      flags: flagsFor(issuer),
    })
    operator = await setUp(annex)
  })
  after(async () => {
    await annex.close()
    issuer.close()
  })
  beforeEach(() => {
    Object.assign(issuer.shape, {
      ...{ claims: { groups: ['engineering'], email: 'ada@example.com' }, otherKey: false, redirect: {} },
      ...{ userinfo: undefined, isDown: false },
    })
  })

  const begin = async (page: OwnPage, purpose = 'sign_in'): Promise<string> => {
    const { status, json } = await page.call('POST', '/v1/openid/flows', { purpose })
    assert.equal(status, 201, JSON.stringify(json))
    return issuer.signIn(json.url)
  }
  const finish = (page: OwnPage, back: string) =>
    page.call('POST', '/v1/openid/callbacks', { query: new URL(back).search })
  const signIn = async (page = createOwnPage(annex.url)) => finish(page, await begin(page))
  const isSignedIn = async (page: OwnPage) => (await page.call('GET', '/v1/me')).status === 200

  it('a callback works in the browser that began the flow alone', async () => {
    const [attacker, victim] = [createOwnPage(annex.url), createOwnPage(annex.url)]
    const back = await begin(attacker)
    assert.deepEqual(refusal(await finish(victim, back)), notTaken, 'without a cookie')
    await begin(victim)
    assert.deepEqual(refusal(await finish(victim, back)), notTaken, 'with a cookie of a flow of its own')
    const [name = '', value = ''] = [...victim.cookies].find(([name]) => name.includes('openid')) ?? []
    const [aim = ''] = [...attacker.cookies.keys()].filter((key) => key.includes('openid'))
    victim.cookies.set(aim, value)
    assert.deepEqual(
      refusal(await finish(victim, back)),
      notTaken,
      'with its own cookie under the other name',
    )
    assert.ok(victim.cookies.has(name))
    assert.equal(await isSignedIn(victim), false)
    assert.equal((await finish(attacker, back)).status, 201)
  })

  it('a callback works once, also with a copy of the cookie, and also when it failed', async () => {
    const page = createOwnPage(annex.url)
    const back = await begin(page)
    const copy = createOwnPage(annex.url)
    for (const [name, value] of page.cookies) copy.cookies.set(name, value)
    assert.equal((await finish(page, back)).status, 201)
    const asked = issuer.asked.length
    assert.deepEqual(refusal(await finish(copy, back)), notTaken)
    assert.deepEqual(refusal(await finish(page, back)), notTaken)
    const failing = await begin(page)
    const kept = new Map(page.cookies)
    const denied = new URL(failing)
    denied.searchParams.delete('code')
    denied.searchParams.set('error', 'access_denied')
    assert.deepEqual(refusal(await finish(page, denied.href)), notTaken)
    assert.ok(![...page.cookies.keys()].some((name) => name.includes('openid')), 'the cookie has ended')
    for (const [name, value] of kept) page.cookies.set(name, value)
    assert.deepEqual(refusal(await finish(page, failing)), notTaken)
    assert.equal(issuer.asked.length, asked, 'the issuer was not asked')
  })

  it('a code is not taken twice, nor that of another flow', async () => {
    const page = createOwnPage(annex.url)
    const first = new URL(await begin(page))
    const second = new URL(await begin(page))
    assert.equal((await finish(page, first.href)).status, 201)
    second.searchParams.set('code', first.searchParams.get('code') ?? '')
    assert.deepEqual(refusal(await finish(page, second.href)), notTaken)
    // A stolen code has the nonce of the flow that it was stolen from.
    const [mine, theirs] = [new URL(await begin(page)), new URL(await begin(createOwnPage(annex.url)))]
    mine.searchParams.set('code', theirs.searchParams.get('code') ?? '')
    const answer = await finish(page, mine.href)
    assert.deepEqual(refusal(answer), notTaken)
    assert.match(answer.json.error.message, /nonce/)
  })

  it('a flow ends after ten minutes', async (t) => {
    const page = createOwnPage(annex.url)
    const back = await begin(page)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10 * minuteMs })
    assert.deepEqual(refusal(await finish(page, back)), notTaken)
  })

  const queries: [name: string, change: (query: URLSearchParams) => void][] = [
    ['no state', (query) => query.delete('state')],
    ['an empty state', (query) => query.set('state', '')],
    ['a state of another form', (query) => query.set('state', '__proto__')],
    ['two states', (query) => query.append('state', query.get('state') ?? '')],
    ['two codes', (query) => query.append('code', 'x')],
    ['no code', (query) => query.delete('code')],
    ['no issuer, though the provider names it', (query) => query.delete('iss')],
    ['another issuer', (query) => query.set('iss', 'https://evil.example')],
    ['the issuer with a slash', (query) => query.set('iss', `${query.get('iss')}/`)],
    ['an answer in a JWT', (query) => query.set('response', 'x')],
  ]
  for (const [name, change] of queries) {
    it(`a callback with ${name} is refused`, async () => {
      const page = createOwnPage(annex.url)
      const back = new URL(await begin(page))
      change(back.searchParams)
      assert.deepEqual(refusal(await finish(page, back.href)), notTaken)
      assert.equal(await isSignedIn(page), false)
    })
  }

  const hour = 3600
  const now = () => Math.floor(Date.now() / 1000)
  const tokens: [name: string, claims: () => object][] = [
    ['for another audience', () => ({ aud: 'other' })],
    ['for no audience', () => ({ aud: undefined })],
    ['for several audiences, made for another', () => ({ aud: ['annex', 'other'], azp: 'other' })],
    ['of another issuer', () => ({ iss: 'https://evil.example' })],
    ['of the issuer with a slash', () => ({ iss: `${issuer.url}/` })],
    ['without an issuer', () => ({ iss: undefined })],
    ['with another nonce', () => ({ nonce: 'other' })],
    ['without a nonce', () => ({ nonce: undefined })],
    ['that has expired', () => ({ exp: now() - hour })],
    ['without an end', () => ({ exp: undefined })],
    ['of the future', () => ({ nbf: now() + hour })],
    ['without sub', () => ({ sub: undefined })],
    ['with an empty sub', () => ({ sub: '' })],
    ['with a number as sub', () => ({ sub: 7 })],
    ['with a list as sub', () => ({ sub: ['ada'] })],
    ['with a sub of 256 characters', () => ({ sub: 'a'.repeat(256) })],
    ['with U+0000 in sub', () => ({ sub: 'ada\0' })],
    ['with a line break in sub', () => ({ sub: 'ada\n' })],
    ['with half a surrogate pair in sub', () => ({ sub: 'ada\ud800' })],
  ]
  for (const [name, claims] of tokens) {
    it(`an ID token ${name} is refused`, async () => {
      Object.assign(issuer.shape.claims, claims())
      const page = createOwnPage(annex.url)
      assert.deepEqual(refusal(await signIn(page)), notTaken)
      assert.equal(await isSignedIn(page), false)
    })
  }

  it('an ID token with the signature of another key is refused', async () => {
    issuer.shape.otherKey = true
    assert.deepEqual(refusal(await signIn()), notTaken)
  })

  it('odd subjects are people of their own', async () => {
    const ids = new Set<string>()
    const subjects = ['odd', 'Odd', 'odd ', ' odd', '%6Fdd', "o'dd", '__proto__', '*', 'a'.repeat(255)]
    for (const [n, sub] of subjects.entries()) {
      Object.assign(issuer.shape.claims, { sub, email: `odd-${n}@example.com` })
      const page = createOwnPage(annex.url)
      assert.equal((await signIn(page)).status, 201, sub)
      ids.add((await page.call('GET', '/v1/account')).json.id)
    }
    assert.equal(ids.size, subjects.length)
  })

  const shapes: [name: string, groups: unknown][] = [
    ['absent', undefined],
    ['null', null],
    ['true', true],
    ['an empty text', ''],
    ['an empty list', []],
    ['a number that a mapping spells', 1],
    ['a list of that number', [1]],
    ['an object', { engineering: true }],
    ['an object with numbers', { 0: 'engineering', length: 1 }],
    ['a list in a list', [['engineering']]],
    ['a text with commas', 'engineering,other'],
    ['a text with spaces', 'engineering other'],
    ['in capitals', ['Engineering']],
    ['with a space', ['engineering ']],
    ['10,000 other values', Array.from({ length: 10_000 }, (_, n) => `group-${n}`)],
  ]
  it('a claim of an odd shape gives no role', async () => {
    for (const [name, groups] of shapes) {
      Object.assign(issuer.shape.claims, { sub: 'shape', groups })
      assert.deepEqual(refusal(await signIn()), [403, 'forbidden'], name)
    }
    Object.assign(issuer.shape.claims, {
      groups: [...Array.from({ length: 10_000 }, (_, n) => `group-${n}`), 'engineering'],
      email: 'shape@example.com',
    })
    assert.equal((await signIn()).status, 201)
    // Names of JavaScript are values as any other.
    Object.assign(issuer.shape.claims, { sub: 'proto', groups: '__proto__', email: 'proto@example.com' })
    const page = createOwnPage(annex.url)
    assert.equal((await signIn(page)).status, 201)
    assert.equal((await page.call('GET', '/v1/me')).json.role, 'admin')
  })

  it('reads the claim from the user info of the same person alone', async () => {
    Object.assign(issuer.shape.claims, { sub: 'info', groups: undefined, email: undefined })
    issuer.shape.userinfo = { sub: 'info', groups: ['engineering'], email: 'info@example.com' }
    await newConfiguration()
    assert.equal((await signIn()).status, 201)
    Object.assign(issuer.shape.claims, { sub: 'other-info' })
    assert.deepEqual(refusal(await signIn()), notTaken)
  })

  it('an email takes over neither an account nor a member, and tells no stranger of one', async () => {
    const taken = 'operator@example.com'
    Object.assign(issuer.shape.claims, { sub: 'thief', email: taken.toUpperCase(), email_verified: true })
    const page = createOwnPage(annex.url)
    const answer = await signIn(page)
    assert.deepEqual(refusal(answer), [409, 'conflict'])
    assert.equal(await isSignedIn(page), false)
    await annex.api('POST', '/v1/orgs/home/members', { email: 'invited@example.com', role: 'admin' })
    Object.assign(issuer.shape.claims, { email: 'invited@example.com' })
    assert.deepEqual(refusal(await signIn(page)), [409, 'conflict'])
    const { json } = await annex.api('GET', '/v1/orgs/home/members/invited@example.com')
    assert.equal(json.account, false)
    // Without a role the answer does not depend on an email.
    Object.assign(issuer.shape.claims, { email: taken, groups: [] })
    assert.deepEqual(refusal(await signIn(page)), [403, 'forbidden'])
    assert.equal((await operator.call('GET', '/v1/me')).status, 200)
  })

  it('an email that is none, or is not verified, becomes no email of the account', async () => {
    const odd = [undefined, 7, 'no email', 'a@b\n@c', `${'a'.repeat(65)}@b`, 'a\ud800@b', ['a@b.example']]
    const emails = [...odd.map((email) => ({ email })), { email: 'ceo@example.com', email_verified: false }]
    for (const [n, email] of emails.entries()) {
      Object.assign(issuer.shape.claims, { sub: `no-email-${n}`, email_verified: undefined, ...email })
      issuer.shape.userinfo = { sub: `no-email-${n}` }
      const page = createOwnPage(annex.url)
      assert.equal((await signIn(page)).status, 201, JSON.stringify(email))
      assert.match((await page.call('GET', '/v1/account')).json.email, /@openid\.invalid$/)
    }
  })

  it('a session of another account finishes no flow of this one', async () => {
    const page = await linkedPage('linked')
    const back = await begin(page, 'confirm')
    for (const [name, value] of operator.cookies) page.cookies.set(name, value)
    assert.deepEqual(refusal(await finish(page, back)), notTaken)
    const own = await begin(operator, 'link')
    const other = await linkedPage('other')
    for (const [name, value] of operator.cookies) if (name.includes('openid')) other.cookies.set(name, value)
    assert.deepEqual(refusal(await finish(other, own)), notTaken)
    assert.equal((await operator.call('GET', '/v1/account')).json.openid, null)
  })

  it('a confirmation needs a sign-in that began after it, and says so', async () => {
    const page = await linkedPage('confirming')
    const confirm = async (time: unknown) => {
      Object.assign(issuer.shape.claims, { auth_time: time })
      return finish(page, await begin(page, 'confirm'))
    }
    for (const time of [undefined, 0, now() - 10 * 60]) {
      assert.deepEqual(refusal(await confirm(time)), notTaken, String(time))
    }
    assert.equal((await page.call('GET', '/v1/me')).status, 200, 'the session stays')
    assert.equal((await confirm(now())).status, 201)
  })

  it('a flow begins and ends on a page of Annex alone', async () => {
    const elsewhere = createOwnPage(annex.url, { headers: { 'sec-fetch-site': 'cross-site' } })
    const page = createOwnPage(annex.url)
    const forbidden = [403, 'forbidden']
    const begun = await elsewhere.call('POST', '/v1/openid/flows', { purpose: 'sign_in' })
    assert.deepEqual(refusal(begun), forbidden)
    const back = await begin(page)
    const form = { 'content-type': 'text/plain' }
    const body = JSON.stringify({ query: new URL(back).search })
    assert.deepEqual(refusal(await page.call('POST', '/v1/openid/callbacks', body, form)), forbidden)
    for (const [name, value] of page.cookies) elsewhere.cookies.set(name, value)
    const query = { query: new URL(back).search }
    assert.deepEqual(refusal(await elsewhere.call('POST', '/v1/openid/callbacks', query)), forbidden)
    assert.deepEqual(refusal(await page.call('POST', '/v1/openid/flows', { purpose: 'confirm' })), notTaken)
    assert.deepEqual(refusal(await page.call('POST', '/v1/openid/flows', { purpose: 'link' })), notTaken)
    const next = { purpose: 'sign_in', next: 'https://evil.example' }
    assert.deepEqual(refusal(await page.call('POST', '/v1/openid/flows', next)), [422, 'body_invalid'])
  })

  it('the cookie of a flow is lax, for ten minutes, and no script sees it', async () => {
    const page = createOwnPage(annex.url)
    const { headers, json } = await page.call('POST', '/v1/openid/flows', { purpose: 'sign_in' })
    const [cookie = ''] = headers['set-cookie'] ?? []
    assert.match(cookie, /^annex-openid_[0-9a-f]{16}=\S+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax;/)
    const state = new URL(json.url).searchParams.get('state') ?? ''
    assert.ok(!cookie.includes(state), 'nor does it show the state')
    const { endpoint } = await installSample(annex, 'echo', 'site')
    const [sent = ''] = cookie.split(';')
    const seen = await fetch(endpoint, { headers: { cookie: `a=1; ${sent}; __Host-${sent}` } })
    assert.equal(await seen.text(), 'a=1')
  })

  it('an issuer that does not answer refuses the sign-in in words, and the next one works', async () => {
    const page = createOwnPage(annex.url)
    const back = await begin(page)
    issuer.shape.isDown = true
    const answer = await finish(page, back)
    assert.deepEqual(refusal(answer), [503, 'unavailable'])
    assert.match(answer.json.error.message, /127\.0\.0\.1:\d+ does not answer/)
    assert.doesNotMatch(
      answer.json.error.message,
      /secret-of-the-client|ECONN|fetch/,
      'no address of the LAN',
    )
    issuer.shape.isDown = false
    assert.equal((await signIn(page)).status, 201)
  })

  it('Annex starts without the issuer, and refuses one that has another name', async () => {
    issuer.shape.isDown = true
    const flags = { ...flagsFor(issuer), PUBLIC_URL: 'https://annex.example' }
    const other = await startAnnex({ flags })
    try {
      await setUp(other)
      const page = createOwnPage(other.url)
      const open = () => page.call('POST', '/v1/openid/flows', { purpose: 'sign_in' })
      assert.equal((await page.call('GET', '/v1/sign-in')).json.openid.name, new URL(issuer.url).host)
      assert.deepEqual(refusal(await open()), [503, 'unavailable'])
      issuer.shape.isDown = false
      for (const metadata of [
        { issuer: 'https://evil.example' },
        { issuer: `${issuer.url}/a` },
        { issuer: 7 },
      ]) {
        issuer.shape.metadata = metadata
        assert.deepEqual(refusal(await open()), [503, 'unavailable'], JSON.stringify(metadata))
      }
      issuer.shape.metadata = {}
      const { json, headers } = await open()
      const redirect = new URL(json.url).searchParams.get('redirect_uri')
      assert.equal(redirect, 'https://annex.example/sign-in/openid', 'whatever Host a request has')
      assert.match(headers['set-cookie']?.[0] ?? '', /^__Host-annex-openid_.*; Path=\/; .*; Secure$/)
    } finally {
      await other.close()
    }
  })

  /** A session of an account that the provider has made. */
  async function linkedPage(sub: string): Promise<OwnPage> {
    Object.assign(issuer.shape.claims, { sub, email: `${sub}@example.com` })
    const page = createOwnPage(annex.url)
    assert.equal((await signIn(page)).status, 201)
    return page
  }

  /** Discovery is kept for an hour. */
  async function newConfiguration(): Promise<void> {
    const { mock } = await import('node:test')
    const then = performance.now() + 61 * minuteMs
    const clock = mock.method(performance, 'now', () => then)
    await begin(createOwnPage(annex.url))
    clock.mock.restore()
  }
})
