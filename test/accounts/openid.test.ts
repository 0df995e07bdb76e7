import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, startAnnex } from '../support/annex.ts'
import { createBrowser } from '../support/browser.ts'
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts'
import { createOwnPage, type OwnPage, type PageAnswer, password, setUp } from '../support/own-page.ts'

const minuteMs = 60_000
const callbacks = '/v1/openid/callbacks'
const refusal = ({ status, json }: PageAnswer) => [status, json.error?.code]

describe('signing in by an OpenID provider', () => {
  let annex: Annex
  let provider: OidcProvider
  let operator: OwnPage
  const groups: Record<string, unknown> = {
    ada: ['engineering', 'staff'],
    bob: 'support',
    eve: ['staff'],
    olga: ['annex operators, all'],
  }
  before(async () => {
    provider = await startOidcProvider({
      authMethod: 'client_secret_basic',
      claimsOf: (user) => ({
        name: `${user} of the provider`,
        groups: groups[user],
        ...(user === 'nomail' && { email: undefined }),
      }),
    })
    annex = await startAnnex({
      flags: {
        OPENID_ISSUER: provider.url,
        OPENID_CLIENT_ID: 'annex',
        OPENID_CLIENT_SECRET: 'secret-of-the-client',
        OPENID_NAME: 'Example Login',
        OPENID_SCOPES: 'profile,email,groups',
        OPENID_ROLES:
          'engineering=acme:admin,engineering=beta:reader,support=acme:reader,staff=nowhere:admin,annex operators%2C all=home:operator',
      },
    })
    provider.register([`${annex.url}/sign-in/openid`])
    for (const subdomain of ['acme', 'beta']) {
      await annex.api('POST', '/v1/orgs', { subdomain, title: subdomain })
    }
  })
  after(async () => {
    await annex.close()
    provider.close()
  })

  /** From the button to the page that the provider leads back to. */
  async function flow(page: OwnPage, as: string, purpose = 'sign_in'): Promise<PageAnswer> {
    const begun = await page.call('POST', '/v1/openid/flows', { purpose })
    if (begun.status !== 201) return begun
    const { next } = await createBrowser({ as }).follow(begun.json.url, /\/sign-in\/openid\?/)
    assert.ok(next)
    return page.call('POST', callbacks, { query: new URL(next).search })
  }

  const rolesOf = async (page: OwnPage) => {
    const { json } = await page.call('GET', '/v1/me')
    return Object.fromEntries(
      json.memberships.map(
        ({ organization, role }: { organization: { subdomain: string }; role: string }) => [
          organization.subdomain,
          role,
        ],
      ),
    )
  }

  it('begins once the operator has a local account, which stays one', async () => {
    const page = createOwnPage(annex.url)
    assert.deepEqual((await page.call('GET', '/v1/sign-in')).json.openid, { name: 'Example Login' })
    assert.deepEqual(refusal(await flow(page, 'olga')), [409, 'conflict'])
    operator = await setUp(annex)
    const { json } = await operator.call('GET', '/v1/account')
    assert.deepEqual([json.operator, json.openid], [true, null])
  })

  it('makes an account with the roles of the claim, and finds it again', async () => {
    const page = createOwnPage(annex.url)
    const { status, json } = await flow(page, 'ada')
    assert.equal(status, 201, JSON.stringify(json))
    assert.deepEqual([json.purpose, json.session.method], ['sign_in', 'openid'])
    assert.deepEqual(await rolesOf(page), { acme: 'admin', beta: 'reader' })
    const { json: account } = await page.call('GET', '/v1/account')
    assert.deepEqual([account.email, account.name], ['ada@example.com', 'ada of the provider'])
    assert.deepEqual(
      [account.openid.issuer, account.openid.subject, account.openid.setsRoles],
      [provider.url, 'ada', true],
    )
    assert.deepEqual(
      [...page.cookies.keys()].filter((name) => /openid/.test(name)),
      [],
    )
    const lifetime = Date.parse(json.session.expiresAt) - Date.parse(json.session.createdAt)
    assert.equal(lifetime, 24 * 60 * minuteMs)
    const again = createOwnPage(annex.url)
    await flow(again, 'ada')
    assert.equal((await again.call('GET', '/v1/account')).json.id, account.id)
  })

  it('takes a claim that is one text, and a value with a comma', async () => {
    const bob = createOwnPage(annex.url)
    assert.equal((await flow(bob, 'bob')).status, 201)
    assert.deepEqual(await rolesOf(bob), { acme: 'reader' })
    const olga = createOwnPage(annex.url)
    assert.equal((await flow(olga, 'olga')).status, 201)
    assert.equal((await olga.call('GET', '/v1/me')).json.role, 'operator')
  })

  it('refuses a person without a role, names the claim, and stores nothing', async () => {
    const page = createOwnPage(annex.url)
    const answer = await flow(page, 'eve')
    assert.deepEqual(refusal(answer), [403, 'forbidden'])
    assert.match(answer.json.error.message, /Example Login gives you no role .* the claim "groups"/)
    assert.doesNotMatch(answer.json.error.message, /staff|engineering/)
    assert.equal((await page.call('GET', '/v1/me')).status, 401)
    const { text } = await annex.api('GET', '/v1/audit?limit=1000')
    assert.doesNotMatch(text, /eve@example\.com/)
  })

  it('sets the roles anew at each sign-in, and a role that changes ends the other sessions', async () => {
    const [before, after] = [createOwnPage(annex.url), createOwnPage(annex.url)]
    await flow(before, 'ada')
    const { json: me } = await before.call('GET', '/v1/me', undefined, { 'annex-organization': 'acme' })
    groups.ada = ['support']
    await flow(after, 'ada')
    assert.deepEqual(await rolesOf(after), { acme: 'reader' })
    assert.equal((await before.call('GET', '/v1/me')).status, 401)
    assert.equal((await after.call('GET', '/v1/account')).json.id, me.account.id)
  })

  it('deletes the account of a person who has no role any more, with its sessions', async () => {
    const page = createOwnPage(annex.url)
    groups.ada = ['engineering']
    await flow(page, 'ada')
    const { json: account } = await page.call('GET', '/v1/account')
    groups.ada = []
    assert.equal((await flow(createOwnPage(annex.url), 'ada')).status, 403)
    assert.equal((await page.call('GET', '/v1/me')).status, 401)
    const { items } = (await annex.api('GET', '/v1/orgs/acme/members')).json
    assert.ok(!items.some(({ email }: { email: string }) => email === account.email))
    groups.ada = ['engineering']
    const again = createOwnPage(annex.url)
    await flow(again, 'ada')
    assert.notEqual((await again.call('GET', '/v1/account')).json.id, account.id)
  })

  it('gives an account of the provider no other way in', async () => {
    const page = createOwnPage(annex.url)
    await flow(page, 'ada')
    assert.equal((await flow(page, 'ada', 'confirm')).status, 201)
    const passwordSet = await page.call('PATCH', '/v1/account', { password })
    assert.deepEqual(refusal(passwordSet), [409, 'conflict'])
    assert.deepEqual(refusal(await page.call('DELETE', '/v1/account/openid')), [409, 'conflict'])
    const reset = await annex.api('POST', '/v1/resets/links', { email: 'ada@example.com' })
    assert.deepEqual([reset.status, reset.json.error.code], [409, 'conflict'])
    const home = await annex.api('POST', '/v1/orgs/home/members', { email: 'x@example.com', role: 'admin' })
    const invited = await annex.api('POST', `/v1/orgs/home/members/${home.json.id}/invitation`)
    const { link } = invited.json
    const joined = await page.call('POST', '/v1/account/memberships', { link })
    assert.deepEqual(refusal(joined), [409, 'conflict'])
    assert.equal((await page.call('PATCH', '/v1/account', { name: 'Ada' })).status, 200)
  })

  it('confirms by a new sign-in at the provider, of the same person', async (t) => {
    const page = createOwnPage(annex.url)
    await flow(page, 'ada')
    const asksAgain = [403, 'confirmation_required']
    const invite = () =>
      page.call('POST', '/v1/orgs/acme/members', { email: 'n@example.com', role: 'reader' })
    assert.deepEqual(refusal(await invite()), asksAgain, 'the provider may have signed in long ago')
    assert.deepEqual(refusal(await flow(page, 'bob', 'confirm')), [401, 'unauthorized'])
    assert.deepEqual(refusal(await invite()), asksAgain)
    const confirmed = await flow(page, 'ada', 'confirm')
    assert.equal(confirmed.status, 201, JSON.stringify(confirmed.json))
    assert.equal((await invite()).status, 201)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10 * minuteMs })
    assert.deepEqual(
      refusal(await page.call('POST', '/v1/orgs/acme/members', { email: 'm@example.com', role: 'reader' })),
      asksAgain,
    )
  })

  it('is one more way in to a local account that links it, and changes none of its memberships', async () => {
    groups.linked = ['support']
    const linked = await flow(operator, 'linked', 'link')
    assert.equal(linked.status, 201, JSON.stringify(linked.json))
    const page = createOwnPage(annex.url)
    assert.equal((await flow(page, 'linked')).status, 201)
    const { json: me } = await page.call('GET', '/v1/me')
    assert.deepEqual([me.role, me.account.email, me.memberships], ['operator', 'operator@example.com', []])
    assert.equal(me.account.openid.setsRoles, false)
    groups.linked = undefined
    assert.equal((await flow(page, 'linked')).status, 201, 'also without a role')
    assert.equal((await flow(page, 'linked', 'confirm')).status, 201)
    assert.deepEqual(refusal(await flow(operator, 'other', 'link')), [409, 'conflict'])
    const { status, json } = await operator.call('DELETE', '/v1/account/openid')
    assert.deepEqual([status, json.openid, json.operator], [200, null, true])
    assert.equal((await page.call('GET', '/v1/me')).status, 401, 'a session that it made has ended')
    assert.equal((await flow(page, 'linked')).status, 403)
    const signIn = { email: 'operator@example.com', password }
    assert.equal((await createOwnPage(annex.url).call('POST', '/v1/sessions', signIn)).status, 201)
  })

  it('links no person who has an account already', async () => {
    const answer = await flow(operator, 'ada', 'link')
    assert.deepEqual(refusal(answer), [409, 'conflict'])
    assert.equal((await operator.call('GET', '/v1/account')).json.openid, null)
  })

  it('is a way in for several first sign-ins at once, which make one account', async () => {
    for (const twin of ['twin', 'nomail']) {
      groups[twin] = ['support']
      const pages = Array.from({ length: 4 }, () => createOwnPage(annex.url))
      const answers = await Promise.all(pages.map((page) => flow(page, twin)))
      assert.deepEqual(
        answers.map(({ status }) => status),
        [201, 201, 201, 201],
      )
      const ids = await Promise.all(
        pages.map(async (page) => (await page.call('GET', '/v1/account')).json.id),
      )
      assert.equal(new Set(ids).size, 1)
    }
  })
})
