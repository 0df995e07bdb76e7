// databases: PostgreSQL

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { type Annex, startAnnex, until } from '../support/annex.ts'
import { createNamedPage, createOwnPage, join, type OwnPage, password } from '../support/own-page.ts'
import { createTestDatabase, noPostgres, type TestDatabase } from '../support/test-database.ts'

describe('sessions of two hosts on one PostgreSQL', { skip: noPostgres }, () => {
  let database: TestDatabase
  let hosts: [Annex, Annex]
  let page: OwnPage
  before(async () => {
    database = await createTestDatabase()
    const flags = { DATABASE_URL: database.url, SECRET_KEY: randomBytes(32).toString('base64') }
    const first = await startAnnex({ flags })
    hosts = [first, await startAnnex({ flags })]
    page = createNamedPage(first.url)
    // The second start has replaced the setup token of the first one.
    const link = hosts[1].server.setupToken
    const { status, json } = await join(page, link, { email: 'o@example.com', password })
    assert.equal(status, 201, JSON.stringify(json))
  })
  after(async () => {
    await Promise.all(hosts.map(({ close }) => close()))
    await database.drop()
  })

  /** The same browser, at the other host: a proxy sends requests to either. */
  const atOther = (): OwnPage => {
    const other = createOwnPage(hosts[1].url, { host: new URL(page.origin).host })
    for (const [name, value] of page.cookies) other.cookies.set(name, value)
    return other
  }

  it('work at both, and end at both within a second', async () => {
    const other = atOther()
    assert.equal((await other.call('GET', '/v1/me')).json.account.email, 'o@example.com')
    const again = atOther()
    const { status } = await page.call('POST', '/v1/sessions', { email: 'o@example.com', password })
    assert.equal(status, 201)
    const statuses = () => again.call('GET', '/v1/me')
    const ended = await until(statuses, (answer) => answer.status === 401, 2)
    assert.equal(ended.json.error.code, 'unauthorized')
  })

  it('a challenge of one host is answered at the other, once in all', async () => {
    const member = { email: 'm@example.com', role: 'reader' }
    await page.call('POST', '/v1/orgs/home/members', member)
    const invited = await page.call('POST', '/v1/orgs/home/members/m@example.com/invitation')
    const answers = await Promise.all([join(atOther(), invited.json.link), join(page, invited.json.link)])
    assert.deepEqual(answers.map((answer) => answer.status).toSorted(), [201, 401])
  })
})
