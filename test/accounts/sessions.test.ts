// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, startAnnex } from '../support/annex.ts'
import { createOwnPage, type OwnPage, password, setUp } from '../support/own-page.ts'

const email = 'operator@example.com'

describe('a session', () => {
  let annex: Annex
  let page: OwnPage
  before(async () => {
    annex = await startAnnex()
    page = await setUp(annex)
  })
  after(() => annex.close())

  const signIn = async () => {
    const fresh = createOwnPage(annex.url)
    await fresh.call('GET', '/v1/sign-in')
    const { status, json } = await fresh.call('POST', '/v1/sessions', { email, password })
    assert.equal(status, 201, JSON.stringify(json))
    return { page: fresh, session: json }
  }

  it('begins with the operator’s account, which the setup token makes once', async () => {
    const { status, json } = await page.call('GET', '/v1/me')
    assert.equal(status, 200, JSON.stringify(json))
    assert.deepEqual([json.role, json.account.email, json.account.operator], ['operator', email, true])
    assert.deepEqual([json.session.current, json.session.method, json.memberships], [true, 'setup', []])
    assert.deepEqual([json.needs.createSite, json.needs.createOrganization], ['admin', 'operator'])
    assert.ok(json.allowed.includes('createOrganization') && json.allowed.includes('listSessions'))
    const link = annex.server.setupToken
    const again = await createOwnPage(annex.url).call('POST', '/v1/accounts', {
      link,
      email: 'x@y.z',
      password,
    })
    assert.deepEqual([again.status, again.json.error.code], [401, 'unauthorized'])
    assert.equal((await page.call('GET', '/v1/sign-in')).json.needsSetup, false)
  })

  it('calls the API as a token does', async () => {
    assert.equal((await page.call('GET', '/v1/orgs')).json.items[0].subdomain, 'home')
    const made = await page.call('POST', '/v1/orgs/home/sites', { slug: 'ours', title: 'Ours' })
    assert.equal(made.status, 201, JSON.stringify(made.json))
    const { json } = await page.call('GET', '/v1/audit?action=site.create')
    const me = (await page.call('GET', '/v1/account')).json
    assert.deepEqual([json.items[0].actor.kind, json.items[0].actor.id], ['person', me.id])
  })

  it('is listed and ended', async () => {
    const other = await signIn()
    const { items } = (await page.call('GET', '/v1/sessions')).json
    assert.equal(items.find(({ current }: { current: boolean }) => current).method, 'setup')
    assert.ok(items.some(({ id }: { id: string }) => id === other.session.id))
    assert.equal((await page.call('DELETE', `/v1/sessions/${other.session.id}`)).status, 204)
    assert.equal((await other.page.call('GET', '/v1/me')).status, 401)
    const last = await signIn()
    assert.equal((await last.page.call('DELETE', '/v1/sessions/current')).status, 204)
    assert.equal(
      [...last.page.cookies.keys()].some((name) => name.includes('session')),
      false,
    )
    assert.equal((await last.page.call('GET', '/v1/me')).status, 401)
    assert.equal((await page.call('DELETE', `/v1/sessions/${last.session.id}`)).status, 404)
  })

  it('has a new secret after each sign-in, and the one before ends', async () => {
    const { page: own, session } = await signIn()
    const [name = ''] = [...own.cookies.keys()].filter((one) => one.includes('session'))
    const planted = own.cookies.get(name)
    const again = await own.call('POST', '/v1/sessions', { email, password })
    assert.equal(again.status, 201)
    assert.notEqual(own.cookies.get(name), planted)
    assert.notEqual(again.json.id, session.id)
    const fixed = createOwnPage(annex.url)
    fixed.cookies.set(name, planted ?? '')
    assert.equal((await fixed.call('GET', '/v1/me')).status, 401)
  })

  it('of an operator finds names in the organization that the header names', async () => {
    await annex.api('POST', '/v1/orgs', { subdomain: 'quiet', title: 'Quiet' })
    const find = async (headers: Record<string, string>, query = '') =>
      (await page.call('GET', `/v1/spaces/handbook${query}`, undefined, headers)).status
    assert.equal(await find({ 'annex-organization': 'home' }), 200)
    assert.equal(await find({ 'annex-organization': 'quiet' }), 404)
    assert.equal(await find({ 'annex-organization': 'nothing' }), 404)
    assert.equal(await find({ 'annex-organization': 'quiet' }, '?organization=home'), 200, 'the query counts')
    const stray = await page.call('GET', '/v1/sessions?organisation=x')
    assert.equal(stray.status, 400, 'an unknown parameter')
  })

  it('has no effect on a request with a token', async () => {
    const { token } = (await annex.api('POST', '/v1/orgs/home/tokens', { role: 'reader' })).json
    const { json } = await page.call('GET', '/v1/me', undefined, { authorization: `Bearer ${token}` })
    assert.deepEqual([json.role, json.account], ['reader', undefined])
    const wrong = await page.call('GET', '/v1/me', undefined, { authorization: 'Bearer annex_org_none' })
    assert.equal(wrong.status, 401)
  })
})
