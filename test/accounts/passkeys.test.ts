// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createChallenges } from '../../host/accounts/challenges.ts'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'
import { type Authenticator, createAuthenticator } from '../support/authenticator.ts'
import { createOwnPage, type OwnPage, type PageAnswer, password } from '../support/own-page.ts'

const refusal = ({ status, json }: PageAnswer) => [status, json.error?.code]

describe('a passkey', () => {
  let annex: Annex
  let page: OwnPage
  let origin: string
  const key = createAuthenticator()
  const open = () => createOwnPage(annex.url, { host: new URL(origin).host })
  const challenge = async (on: OwnPage, purpose: string, more = {}): Promise<Json> => {
    const { status, json } = await on.call('POST', '/v1/passkey-challenges', { purpose, ...more })
    assert.equal(status, 201, JSON.stringify(json))
    return json.options
  }
  const register = async (on: OwnPage, authenticator: Authenticator) => ({
    response: authenticator.register(await challenge(on, 'register', { email: 'o@example.com' }), { origin }),
    label: 'laptop',
  })
  const signIn = async (how: object = {}, authenticator = key): Promise<PageAnswer> => {
    const fresh = open()
    const passkey = authenticator.signIn(await challenge(fresh, 'sign_in'), { origin, ...how })
    return fresh.call('POST', '/v1/sessions', { passkey })
  }
  before(async () => {
    annex = await startAnnex()
    origin = `http://localhost:${new URL(annex.url).port}`
    page = open()
  })
  after(() => annex.close())

  it('makes an account, and signs in without a password', async () => {
    const { json: ways } = await page.call('GET', '/v1/sign-in')
    assert.deepEqual(
      [ways.needsSetup, ways.passkeys, ways.secure],
      [true, { possible: true, host: 'localhost' }, true],
    )
    const passkey = await register(page, key)
    const link = annex.server.setupToken
    const made = await page.call('POST', '/v1/accounts', { link, email: 'o@example.com', passkey })
    assert.equal(made.status, 201, JSON.stringify(made.json))
    const { json: account } = await page.call('GET', '/v1/account')
    assert.equal(account.password, false)
    assert.deepEqual(
      account.passkeys.map(({ host, label }: Json) => [host, label]),
      [['localhost', 'laptop']],
    )
    const session = await signIn()
    assert.deepEqual([session.status, session.json.method], [201, 'passkey'], JSON.stringify(session.json))
    const later = (await page.call('GET', '/v1/account')).json.passkeys[0]
    assert.notEqual(later.lastUsedAt, null)
  })

  it('is refused where it does not belong, unverified, copied, or a second time', async () => {
    const cases: [string, object][] = [
      ['of a page of another site', { origin: 'https://evil.example' }],
      ['of another port', { origin: 'http://localhost:1' }],
      ['for another host', { rpId: 'evil.example' }],
      ['without the person', { flags: 0x00 }],
      ['without a check of the person', { flags: 0x01 }],
    ]
    for (const [name, how] of cases) assert.deepEqual(refusal(await signIn(how)), [401, 'unauthorized'], name)
    assert.deepEqual(refusal(await signIn({}, createAuthenticator())), [401, 'unauthorized'], 'unknown')

    const fresh = open()
    const passkey = key.signIn(await challenge(fresh, 'sign_in'), { origin, counter: 7 })
    assert.equal((await fresh.call('POST', '/v1/sessions', { passkey })).status, 201)
    const again = await open().call('POST', '/v1/sessions', { passkey })
    assert.deepEqual(refusal(again), [401, 'unauthorized'], 'again')
    assert.deepEqual(
      refusal(await signIn({ counter: 7 })),
      [401, 'unauthorized'],
      'a counter that stands still',
    )
    assert.equal((await signIn({ counter: 8 })).status, 201)

    const forged = { challenge: Buffer.alloc(54, 1).toString('base64url'), rpId: 'localhost' }
    const other = await challenge(fresh, 'register', { email: 'a@b.c' })
    for (const options of [forged, { challenge: other.challenge, rpId: 'localhost' }]) {
      const body = { passkey: key.signIn(options, { origin, counter: 9 }) }
      assert.deepEqual(refusal(await open().call('POST', '/v1/sessions', body)), [401, 'unauthorized'])
    }
  })

  it('of two sign-ins with one answer, lets one through', async () => {
    const passkey = key.signIn(await challenge(open(), 'sign_in'), { origin, counter: 20 })
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => open().call('POST', '/v1/sessions', { passkey })),
    )
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 401, 401, 401])
  })

  it('is added, and removed unless it is the last way to sign in', async () => {
    const [{ id }] = (await page.call('GET', '/v1/account')).json.passkeys
    assert.deepEqual(refusal(await page.call('DELETE', `/v1/account/passkeys/${id}`)), [409, 'conflict'])
    const second = createAuthenticator()
    const body = await register(page, second)
    const added = await page.call('POST', '/v1/account/passkeys', body)
    assert.equal(added.status, 201, JSON.stringify(added.json))
    assert.equal(added.json.passkeys.length, 2)
    assert.deepEqual(refusal(await page.call('POST', '/v1/account/passkeys', body)), [401, 'unauthorized'])
    const twice = await register(page, second)
    assert.deepEqual(refusal(await page.call('POST', '/v1/account/passkeys', twice)), [409, 'conflict'])
    const left = await page.call('DELETE', `/v1/account/passkeys/${id}`)
    assert.equal(left.json.passkeys.length, 1)
    assert.deepEqual(refusal(await signIn({ counter: 30 })), [401, 'unauthorized'])
    assert.equal((await signIn({}, second)).status, 201)
    assert.deepEqual(refusal(await page.call('DELETE', `/v1/account/passkeys/${id}`)), [404, 'not_found'])
  })

  it('confirms a session', async () => {
    const third = createAuthenticator()
    await page.call('POST', '/v1/account/passkeys', await register(page, third))
    const passkey = third.signIn(await challenge(page, 'sign_in'), { origin })
    const { status, json } = await page.call('POST', '/v1/sessions/current/confirmation', { passkey })
    assert.equal(status, 201, JSON.stringify(json))
  })

  it('with a certificate is refused before anything of it is fetched', async () => {
    const made = createAuthenticator().register(await challenge(page, 'register', { email: 'a@b.c' }), {
      origin,
    }) as Json
    for (const format of [
      'packed',
      'fido-u2f',
      'tpm',
      'android-key',
      'apple',
      'android-safetynet',
      'other',
    ]) {
      const bytes = Buffer.from(made.response.attestationObject, 'base64url')
      // {fmt: "none", attStmt: {}} becomes {fmt: …, attStmt: {x5c: [h'00']}}.
      const rest = bytes.subarray(bytes.indexOf('authData') - 1)
      const head = Buffer.concat([
        ...[Buffer.from([0xa3, 0x63]), Buffer.from('fmt'), Buffer.from([0x60 | Math.min(format.length, 23)])],
        ...[Buffer.from(format.slice(0, 23)), Buffer.from([0x67]), Buffer.from('attStmt')],
        ...[Buffer.from([0xa1, 0x63]), Buffer.from('x5c'), Buffer.from([0x81, 0x41, 0x00])],
      ])
      const attestationObject = Buffer.concat([head, rest]).toString('base64url')
      const response = { ...made, response: { ...made.response, attestationObject } }
      const { status, json } = await page.call('POST', '/v1/account/passkeys', { response })
      assert.deepEqual([status, json.error.code], [422, 'body_invalid'], format)
      assert.match(json.error.message, /certificate/, format)
    }
    for (const response of [
      {},
      { attestationObject: 'x' },
      { attestationObject: 7 },
      { clientDataJSON: '{' },
    ]) {
      const body = { response: { ...made, response } }
      assert.deepEqual(refusal(await page.call('POST', '/v1/account/passkeys', body)), [422, 'body_invalid'])
    }
  })

  it('is not possible at an IP address, or over HTTP in a network, and says why', async () => {
    const reasons: [string, RegExp][] = [
      [new URL(annex.url).host, /open http:\/\/localhost:\d+\.$/],
      ['[::1]:8787', /open http:\/\/localhost:8787\.$/],
      ['192.0.2.1:8787', /192\.0\.2\.1 is an IP address/],
      ['annex.lan:8787', /over HTTPS alone/],
    ]
    for (const [host, reason] of reasons) {
      const there = createOwnPage(annex.url, { host })
      const { passkeys } = (await there.call('GET', '/v1/sign-in')).json
      assert.equal(passkeys.possible, false, host)
      assert.match(passkeys.reason, reason)
      const refused = await there.call('POST', '/v1/passkey-challenges', { purpose: 'sign_in' })
      assert.deepEqual(refusal(refused), [409, 'conflict'])
    }
    for (const host of ['localhost:1', 'a.localhost:1']) {
      const { passkeys } = (await createOwnPage(annex.url, { host }).call('GET', '/v1/sign-in')).json
      assert.deepEqual(passkeys, { possible: true, host: host.slice(0, -2) })
    }
  })

  it('is made for a link in a browser whose session has ended', async () => {
    const stale = open()
    stale.cookies.set(`__Host-annex_session_${new URL(origin).port}`, 'ended')
    assert.deepEqual(refusal(await stale.call('GET', '/v1/me')), [401, 'unauthorized'])
    const options = await challenge(stale, 'register', { email: 'new@example.com' })
    assert.deepEqual([options.user.name, options.excludeCredentials], ['new@example.com', []])
    const own = await challenge(page, 'register')
    assert.deepEqual([own.user.name, own.excludeCredentials.length > 0], ['o@example.com', true])
    const none = await open().call('POST', '/v1/passkey-challenges', { purpose: 'register' })
    assert.deepEqual(refusal(none), [422, 'body_invalid'])
  })

  it('needs a password of the right form beside it, if one is given', async () => {
    for (const bad of ['short', 'x'.repeat(1025), 'ä'.repeat(600), `half \ud800 a character`]) {
      const { status } = await page.call('PATCH', '/v1/account', { password: bad })
      assert.equal(status, 422, bad.slice(0, 20))
    }
    assert.equal((await page.call('PATCH', '/v1/account', { password })).json.password, true)
  })
})

describe('a challenge', () => {
  it('is valid for its purpose and its host, for five minutes', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_000_000_000_000 })
    const challenges = createChallenges({ deriveKey: () => Buffer.alloc(32, 1) })
    const other = createChallenges({ deriveKey: () => Buffer.alloc(32, 2) })
    const text = challenges.create('sign_in', 'localhost').toString('base64url')
    assert.equal(challenges.isValid(text, 'sign_in', 'localhost'), true)
    assert.equal(challenges.isValid(text, 'register', 'localhost'), false)
    assert.equal(challenges.isValid(text, 'sign_in', 'other'), false)
    assert.equal(other.isValid(text, 'sign_in', 'localhost'), false)
    for (const bad of ['', 'x', text.slice(1), `${text}AAAA`]) {
      assert.equal(challenges.isValid(bad, 'sign_in', 'localhost'), false, bad)
    }
    t.mock.timers.tick(5 * 60_000)
    assert.equal(challenges.isValid(text, 'sign_in', 'localhost'), false)
  })
})
