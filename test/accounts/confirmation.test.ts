import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { endOf, isOver } from '../../host/accounts/sessions.ts'
import type { Session } from '../../host/db/queries/sessions.ts'
import { loadApi } from '../../schemas/api.ts'
import { type Annex, startAnnex } from '../support/annex.ts'
import { createOwnPage, type OwnPage, type PageAnswer, password, setUp } from '../support/own-page.ts'

const refusal = ({ status, json }: PageAnswer) => [status, json.error?.code]
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const confirmation = '/v1/sessions/current/confirmation'

describe('ten minutes after a sign-in', () => {
  let annex: Annex
  let page: OwnPage
  before(async () => {
    annex = await startAnnex()
    page = await setUp(annex)
    await annex.api('POST', '/v1/orgs/home/members', { email: 'm@example.com', role: 'reader' })
  })
  after(() => annex.close())

  const needing = loadApi().operations.filter(({ needsConfirmation }) => needsConfirmation)
  const ask = ({ method, path, bodyExample }: (typeof needing)[number], token?: string) => {
    const filled = path
      .replace('{org}', 'home')
      .replace('{member}', 'm@example.com')
      .replaceAll(/\{\w+\}/g, 'x')
    const headers = { 'if-match': '*', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    return page.call(method, filled, bodyExample, headers)
  }

  it('a session makes no lasting way in without a confirmation, and a token does', async (t) => {
    const ids = needing.map(({ id }) => id).toSorted()
    assert.deepEqual(ids, [
      ...['addMemberToOrganizationById', 'addPasskey', 'createOperatorToken', 'createOrganizationToken'],
      ...['createResetLink', 'deletePasskey', 'inviteMember', 'removeMemberFromOrganizationById'],
      ...['rotateInstallationSecret', 'rotateSiteInstallationSecret', 'rotateSpaceInstallationSecret'],
      ...['unlinkOpenid', 'updateMemberInOrganizationById'],
    ])
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10 * minuteMs })
    const refused = [403, 'confirmation_required']
    for (const one of needing) assert.deepEqual(refusal(await ask(one)), refused, one.id)
    for (const change of [{ email: 'n@example.com' }, { password }, { name: 'N', password }]) {
      assert.deepEqual(refusal(await page.call('PATCH', '/v1/account', change)), refused)
    }
    assert.equal((await page.call('PATCH', '/v1/account', { name: 'Nia' })).status, 200)
    assert.equal((await page.call('GET', '/v1/orgs/home/members')).status, 200)
    const { token } = (await annex.api('POST', '/v1/tokens', {})).json
    for (const one of needing.filter(({ roles }) => roles.includes('operator'))) {
      assert.notEqual(refusal(await ask(one, token))[1], 'confirmation_required', one.id)
    }
  })

  it('a password gives ten more minutes, and the session a new secret', async (t) => {
    const now = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: now + 10 * minuteMs })
    const before = new Map(page.cookies)
    const wrong = await page.call('POST', confirmation, { password: 'a wrong password' })
    assert.deepEqual(refusal(wrong), [401, 'unauthorized'])
    assert.deepEqual(refusal(await page.call('POST', confirmation, {})), [422, 'body_invalid'])
    const { status, json } = await page.call('POST', confirmation, { password })
    assert.equal(status, 201, JSON.stringify(json))
    assert.ok(Date.parse(json.confirmedAt) >= now + 10 * minuteMs)
    assert.equal((await page.call('POST', '/v1/tokens', {})).status, 201)
    const stolen = createOwnPage(annex.url)
    for (const [name, value] of before) stolen.cookies.set(name, value)
    assert.equal((await stolen.call('GET', '/v1/me')).status, 401)
    t.mock.timers.tick(10 * minuteMs)
    assert.equal(refusal(await page.call('POST', '/v1/tokens', {}))[1], 'confirmation_required')
  })

  it('a new password and email are taken, and end the other sessions', async () => {
    const email = 'operator@example.com'
    await page.call('POST', confirmation, { password })
    const other = createOwnPage(annex.url)
    await other.call('POST', '/v1/sessions', { email, password })
    const { link } = (await annex.api('POST', '/v1/resets/links', { email })).json
    const changed = await page.call('PATCH', '/v1/account', {
      ...{ email: 'New@Example.com', password: 'another long sentence' },
    })
    assert.deepEqual([changed.status, changed.json.email], [200, 'new@example.com'])
    assert.equal((await other.call('GET', '/v1/me')).status, 401)
    assert.equal((await page.call('GET', '/v1/me')).status, 200)
    assert.equal((await other.call('POST', '/v1/links', { link })).status, 401, 'nor by an older reset link')
    const signIn = (body: object) => other.call('POST', '/v1/sessions', body)
    assert.equal((await signIn({ email, password: 'another long sentence' })).status, 401)
    assert.equal((await signIn({ email: 'new@example.com', password: 'another long sentence' })).status, 201)
  })

  it('a session ends thirty days after its last use', async (t) => {
    const now = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: now + 29 * dayMs })
    assert.equal((await page.call('GET', '/v1/me')).status, 200)
    t.mock.timers.setTime(now + 60 * dayMs)
    assert.deepEqual(refusal(await page.call('GET', '/v1/me')), [401, 'unauthorized'])
  })
})

describe('the end of a session', () => {
  it('is thirty days after its last use, and ninety after its beginning at the latest', () => {
    const now = Date.now()
    const session = (createdAgo: number, usedAgo: number) =>
      ({ expiresAt: now - createdAgo + 90 * dayMs, lastUsedAt: now - usedAgo }) as Session
    assert.equal(endOf(session(0, 0)), now + 30 * dayMs)
    assert.equal(endOf(session(80 * dayMs, 0)), now + 10 * dayMs)
    assert.equal(isOver(session(29 * dayMs, 29 * dayMs)), false)
    assert.equal(isOver(session(31 * dayMs, 30 * dayMs)), true)
    assert.equal(isOver(session(90 * dayMs, 0)), true)
  })
})
