// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'
import { createNamedPage, join, type OwnPage, type PageAnswer, password, setUp } from '../support/own-page.ts'

const refusal = ({ status, json }: PageAnswer) => [status, json.error?.code]

describe('an invitation', () => {
  let annex: Annex
  let operator: OwnPage
  before(async () => {
    annex = await startAnnex()
    operator = await setUp(annex)
    for (const subdomain of ['acme', 'other']) {
      await annex.api('POST', '/v1/orgs', { subdomain, title: subdomain })
    }
  })
  after(() => annex.close())

  let made = 0
  const addMember = async (org: string, role: string): Promise<Json> => {
    made += 1
    const { status, json } = await operator.call('POST', `/v1/orgs/${org}/members`, {
      ...{ email: `member-${made}@example.com`, name: 'Mia', role },
    })
    assert.equal(status, 201, JSON.stringify(json))
    return json
  }
  const invite = async (org: string, member: Json, by = operator): Promise<Json> => {
    const { status, json } = await by.call('POST', `/v1/orgs/${org}/members/${member.id}/invitation`)
    assert.equal(status, 201, JSON.stringify(json))
    return json
  }
  const joinBy = async (link: string, more: object = {}): Promise<[OwnPage, PageAnswer]> => {
    const page = createNamedPage(annex.url)
    return [page, await join(page, link, more)]
  }
  const joined = async (org: string, role: string, more: object = {}): Promise<[OwnPage, Json]> => {
    const member = await addMember(org, role)
    const [page, { status, json }] = await joinBy((await invite(org, member)).link, more)
    assert.equal(status, 201, JSON.stringify(json))
    return [page, member]
  }

  it('is shown, and makes an account with the role of the member, once', async () => {
    const member = await addMember('acme', 'editor')
    assert.equal(member.account, false)
    const { url, link, expiresAt } = await invite('acme', member)
    assert.match(url, /^http:\/\/localhost:\d+\/join#annex_invite_[\w-]{32}$/)
    assert.equal(Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000), 7)
    const shown = await createNamedPage(annex.url).call('POST', '/v1/links', { link })
    assert.deepEqual(
      [shown.json.kind, shown.json.email, shown.json.role, shown.json.organization],
      ['invitation', member.email, 'editor', { subdomain: 'acme', title: 'acme' }],
    )
    const [page, answer] = await joinBy(link)
    assert.deepEqual([answer.status, answer.json.method], [201, 'invitation'])
    const { json: me } = await page.call('GET', '/v1/me')
    assert.deepEqual(
      [me.role, me.organization.subdomain, me.memberships.length, me.account.email, me.account.operator],
      ['editor', 'acme', 1, member.email, false],
    )
    assert.equal((await page.call('POST', '/v1/orgs', { subdomain: 'mine', title: 'Mine' })).status, 403)
    assert.equal((await page.call('GET', '/v1/orgs/other')).status, 404)
    const [, again] = await joinBy(link, { email: 'second@example.com' })
    assert.deepEqual(refusal(again), [401, 'unauthorized'])
    const bound = await operator.call('POST', `/v1/orgs/acme/members/${member.id}/invitation`)
    assert.deepEqual(refusal(bound), [409, 'conflict'])
    assert.equal((await operator.call('GET', `/v1/orgs/acme/members/${member.id}`)).json.account, true)
  })

  it('is used up by one of several browsers', async () => {
    const { link } = await invite('acme', await addMember('acme', 'reader'))
    const answers = await Promise.all([1, 2, 3].map((n) => joinBy(link, { email: `race-${n}@example.com` })))
    assert.deepEqual(answers.map(([, { status }]) => status).toSorted(), [201, 401, 401])
  })

  it('ends when a new one is made, with its member or another role of it, and after a week', async (t) => {
    const member = await addMember('acme', 'reader')
    const first = await invite('acme', member)
    const second = await invite('acme', member)
    assert.deepEqual(refusal((await joinBy(first.link))[1]), [401, 'unauthorized'])
    assert.equal((await operator.call('DELETE', `/v1/orgs/acme/members/${member.id}`)).status, 200)
    assert.deepEqual(refusal((await joinBy(second.link))[1]), [401, 'unauthorized'])
    const raised = await addMember('acme', 'reader')
    const kept = await invite('acme', raised)
    await operator.call('PATCH', `/v1/orgs/acme/members/${raised.id}`, { role: 'operator' })
    assert.deepEqual(refusal((await joinBy(kept.link))[1]), [401, 'unauthorized'], 'another role')
    const late = await invite('acme', await addMember('acme', 'reader'))
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse(late.expiresAt) })
    const read = await createNamedPage(annex.url).call('POST', '/v1/links', { link: late.link })
    assert.deepEqual(refusal(read), [401, 'unauthorized'])
  })

  it('binds no account by its email: the person who signs in accepts it', async () => {
    const [page, member] = await joined('acme', 'reader')
    const { json: there } = await operator.call('POST', '/v1/orgs/other/members', {
      ...{ email: member.email, role: 'admin' },
    })
    assert.equal((await page.call('GET', '/v1/me')).json.memberships.length, 1)
    const { link } = await invite('other', there)
    assert.deepEqual(refusal((await joinBy(link))[1]), [409, 'conflict'])
    const accepted = await page.call('POST', '/v1/account/memberships', { link })
    assert.deepEqual([accepted.status, accepted.json.role, accepted.json.member], [201, 'admin', there.id])
    assert.equal((await page.call('GET', '/v1/me')).json.memberships.length, 2)
    const again = await page.call('POST', '/v1/account/memberships', { link })
    assert.deepEqual(refusal(again), [401, 'unauthorized'])
    const twice = await invite('other', await addMember('other', 'operator'))
    assert.deepEqual(refusal(await page.call('POST', '/v1/account/memberships', { link: twice.link })), [
      409,
      'conflict',
    ])
  })

  it('lets a person choose the organization: by path, query or header, and none that is another’s', async () => {
    const [page, member] = await joined('acme', 'reader')
    const { json: there } = await operator.call('POST', '/v1/orgs/other/members', {
      ...{ email: member.email, role: 'editor' },
    })
    await page.call('POST', '/v1/account/memberships', { link: (await invite('other', there)).link })
    const names = async (path: string, headers?: Record<string, string>) =>
      page.call('GET', path, undefined, headers)
    assert.deepEqual(refusal(await names('/v1/problems')), [400, 'bad_request'])
    assert.equal((await names('/v1/problems', { 'annex-organization': 'acme' })).status, 200)
    assert.equal((await names('/v1/problems?organization=other')).status, 200)
    assert.deepEqual(refusal(await names('/v1/problems', { 'annex-organization': 'home' })), [
      404,
      'not_found',
    ])
    const none = await names('/v1/problems', { 'annex-organization': 'nothing' })
    assert.deepEqual(refusal(none), [404, 'not_found'])
    const acme = (await names('/v1/me', { 'annex-organization': 'acme' })).json
    const other = (await names('/v1/me', { 'annex-organization': there.organization })).json
    assert.deepEqual([acme.role, other.role, other.organization.subdomain], ['reader', 'editor', 'other'])
    assert.equal((await names('/v1/me')).json.role, 'account')
    const site = { slug: 'x', title: 'X' }
    const wrong = await page.call('POST', '/v1/orgs/acme/sites', site, { 'annex-organization': 'other' })
    assert.deepEqual(refusal(wrong), [403, 'forbidden'], 'the path counts, not the header')
  })

  it('of an operator comes from an operator alone, and makes one', async () => {
    const [admin] = await joined('acme', 'admin')
    const member = await addMember('acme', 'operator')
    const path = `/v1/orgs/acme/members/${member.id}/invitation`
    assert.deepEqual(refusal(await admin.call('POST', path)), [403, 'forbidden'])
    const [page] = await joinBy((await invite('acme', member)).link)
    const { json: me } = await page.call('GET', '/v1/me')
    assert.deepEqual([me.role, me.account.operator], ['operator', true])
    const invited = await invite('acme', await addMember('acme', 'reader'), admin)
    assert.match(invited.link, /^annex_invite_/)
    const elsewhere = await admin.call('POST', `/v1/orgs/other/members/${member.id}/invitation`)
    assert.deepEqual(refusal(elsewhere), [404, 'not_found'])
  })

  it('a change of role, and a removal, end the sessions; an account without a membership goes', async () => {
    const [page, member] = await joined('acme', 'admin', { password })
    const path = `/v1/orgs/acme/members/${member.id}`
    assert.equal((await operator.call('PATCH', path, { name: 'Mia M.' })).status, 200)
    assert.equal((await operator.call('PATCH', path, { role: 'admin' })).status, 200)
    assert.equal((await page.call('GET', '/v1/me')).status, 200, 'no other role, no end')
    await operator.call('PATCH', path, { role: 'reader' })
    assert.deepEqual(refusal(await page.call('GET', '/v1/me')), [401, 'unauthorized'])
    const { email } = member
    assert.equal((await page.call('POST', '/v1/sessions', { email, password })).status, 201)
    assert.equal((await page.call('GET', '/v1/me')).json.role, 'reader')
    await operator.call('DELETE', path)
    assert.deepEqual(refusal(await page.call('GET', '/v1/me')), [401, 'unauthorized'])
    const gone = await page.call('POST', '/v1/sessions', { email, password })
    assert.deepEqual(refusal(gone), [401, 'unauthorized'])
  })

  it('goes with its organization; a person with another membership stays', async () => {
    await annex.api('POST', '/v1/orgs', { subdomain: 'gone', title: 'Gone' })
    const [alone, first] = await joined('gone', 'admin', { password })
    const [page, member] = await joined('gone', 'reader', { password })
    const { json: there } = await operator.call('POST', '/v1/orgs/acme/members', {
      ...{ email: member.email, role: 'reader' },
    })
    await page.call('POST', '/v1/account/memberships', { link: (await invite('acme', there)).link })
    const deleted = await annex.api('DELETE', '/v1/orgs/gone')
    assert.equal(deleted.status, 200, deleted.text)
    assert.equal((await alone.call('GET', '/v1/me')).status, 401)
    const { email } = first
    assert.equal((await alone.call('POST', '/v1/sessions', { email, password })).status, 401)
    const back = await page.call('POST', '/v1/sessions', { email: member.email, password })
    assert.equal(back.status, 201)
    assert.equal((await page.call('GET', '/v1/me')).json.organization.subdomain, 'acme')
  })

  it('a reset link mends a lost way in, once, and ends the other sessions', async () => {
    const [page, { email }] = await joined('acme', 'admin')
    assert.deepEqual(refusal(await page.call('POST', '/v1/resets/links', { email })), [403, 'forbidden'])
    const missing = await operator.call('POST', '/v1/resets/links', { email: 'none@example.com' })
    assert.deepEqual(refusal(missing), [404, 'not_found'])
    const first = (await operator.call('POST', '/v1/resets/links', { email })).json
    const { json } = await operator.call('POST', '/v1/resets/links', { email })
    assert.match(json.url, /\/reset#annex_reset_[\w-]{32}$/)
    const fresh = createNamedPage(annex.url)
    const other = 'another sentence that is long'
    const reset = (link: string) => fresh.call('POST', '/v1/resets', { link, password: other })
    assert.deepEqual(refusal(await reset(first.link)), [401, 'unauthorized'], 'replaced')
    const shown = (await fresh.call('POST', '/v1/links', { link: json.link })).json
    assert.deepEqual([shown.kind, shown.email], ['reset', email])
    const asInvitation = await fresh.call('POST', '/v1/accounts', {
      link: json.link,
      email: 'a@b.c',
      password,
    })
    assert.deepEqual(refusal(asInvitation), [401, 'unauthorized'])
    assert.deepEqual([(await reset(json.link)).status, (await reset(json.link)).status], [201, 401])
    assert.equal((await fresh.call('GET', '/v1/me')).json.account.email, email)
    assert.equal((await page.call('GET', '/v1/me')).status, 401)
    assert.equal((await page.call('POST', '/v1/sessions', { email, password })).status, 401)
    assert.equal((await page.call('POST', '/v1/sessions', { email, password: other })).status, 201)
  })
})
