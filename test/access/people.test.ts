import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { roles } from '../../host/access/roles.ts'
import { type Annex, type Answered, type Json, request, startAnnex, until } from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({})`

let annex: Annex
before(async () => {
  annex = await startAnnex({ plugins: { guarded: { script, visibility: 'private' } } })
  for (const subdomain of ['acme', 'other']) {
    await annex.api('POST', '/v1/orgs', { subdomain, title: subdomain })
  }
})
after(() => annex.close())

const refusal = ({ status, json }: Answered) => [status, json.error?.code]
const as = (token: string) => (method: string, path: string, body?: unknown) =>
  request(annex.url, method, path, body, token)

async function createToken(
  body: object,
  org = 'acme',
): Promise<{ id: string; token: string; json: Answered['json'] }> {
  const { status, text, json } = await annex.api('POST', `/v1/orgs/${org}/tokens`, body)
  assert.equal(status, 201, text)
  return { id: json.id, token: json.token, json }
}

describe('a member of an organization', () => {
  it('is added, found by email, changed and removed', async () => {
    const path = '/v1/orgs/acme/members'
    const added = await annex.api('POST', path, { email: 'Ada@Example.com', name: 'Ada', role: 'editor' })
    assert.equal(added.status, 201, added.text)
    assert.deepEqual([added.json.email, added.json.role], ['ada@example.com', 'editor'])
    assert.deepEqual(refusal(await annex.api('POST', path, { email: 'ada@example.com', role: 'reader' })), [
      409,
      'conflict',
    ])
    const { json: changed } = await annex.api('PATCH', `${path}/ADA@example.com`, { name: 'Ada L.' })
    assert.deepEqual([changed.id, changed.name, changed.role], [added.json.id, 'Ada L.', 'editor'])
    assert.equal((await annex.api('GET', path)).json.items.length, 1)
    assert.equal((await annex.api('GET', '/v1/orgs/other/members')).json.items.length, 0)
    assert.equal((await annex.api('DELETE', `${path}/${added.json.id}`)).status, 200)
    const { items } = (await annex.api('GET', '/v1/audit')).json
    const actions = items
      .filter((one: Json) => one.subject.id === added.json.id)
      .map((one: Json) => one.action)
    assert.deepEqual(actions.toSorted(), ['member.change', 'member.create', 'member.delete'])
    assert.equal((await annex.api('GET', `${path}/${added.json.id}`)).status, 404)
  })

  it('limits the member’s tokens to a lower role, and ends them when it is removed', async () => {
    const path = '/v1/orgs/acme/members/bob@example.com'
    await annex.api('POST', '/v1/orgs/acme/members', { email: 'bob@example.com', role: 'admin' })
    const { token, json } = await createToken({ member: 'bob@example.com' })
    assert.equal(json.role, 'admin')
    const bob = as(token)
    assert.equal((await bob('POST', '/v1/orgs/acme/sites', { slug: 'bobs', title: 'Bob’s' })).status, 201)
    await annex.api('PATCH', path, { role: 'reader' })
    assert.deepEqual(refusal(await bob('POST', '/v1/orgs/acme/sites', { slug: 'more', title: 'More' })), [
      403,
      'forbidden',
    ])
    assert.equal((await bob('GET', '/v1/orgs/acme/sites')).status, 200)
    const removed = await annex.api('DELETE', path)
    assert.deepEqual(removed.json.deleted, { tokens: 1 })
    assert.equal((await bob('GET', '/v1/orgs/acme/sites')).status, 401)
  })

  it('acts everywhere as an operator, whom only an operator can add or change', async () => {
    const members = '/v1/orgs/acme/members'
    const admin = as((await createToken({ role: 'admin' })).token)
    const operator = { email: 'op@example.com', role: 'operator' }
    assert.deepEqual(refusal(await admin('POST', members, operator)), [403, 'forbidden'])
    assert.equal((await annex.api('POST', members, operator)).status, 201)
    const path = `${members}/op@example.com`
    assert.deepEqual(refusal(await admin('PATCH', path, { role: 'reader' })), [403, 'forbidden'])
    assert.deepEqual(refusal(await admin('DELETE', path)), [403, 'forbidden'])
    assert.deepEqual(refusal(await admin('POST', '/v1/orgs/acme/tokens', { member: 'op@example.com' })), [
      403,
      'forbidden',
    ])
    const { token } = await createToken({ member: 'op@example.com' })
    assert.equal((await as(token)('GET', '/v1/orgs')).json.items.length, 3)
    await annex.api('PATCH', path, { role: 'reader' })
    assert.equal((await as(token)('GET', '/v1/orgs')).json.items.length, 1)
  })
})

describe('a token of a person', () => {
  it('is listed without its text, and ends at once when it is revoked', async () => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    const { id, token, json } = await createToken({ role: 'reader', label: 'dashboard', expiresAt })
    assert.deepEqual([json.lastUsedAt, json.expiresAt], [null, expiresAt])
    assert.equal((await as(token)('GET', '/v1/orgs/acme')).status, 200)
    const read = async () => {
      const listed = await annex.api('GET', '/v1/orgs/acme/tokens')
      assert.ok(!listed.text.includes(token))
      return listed.json.items.find((one: { id: string }) => one.id === id)
    }
    const shown = await until(read, ({ lastUsedAt }) => lastUsedAt !== null)
    assert.deepEqual([shown.role, shown.label, shown.expiresAt], ['reader', 'dashboard', expiresAt])
    assert.equal((await annex.api('DELETE', `/v1/orgs/other/tokens/${id}`)).status, 404)
    assert.equal((await annex.api('DELETE', `/v1/orgs/acme/tokens/${id}`)).status, 204)
    assert.equal((await as(token)('GET', '/v1/orgs/acme')).status, 401, 'no request passes after the answer')
    assert.equal(await read(), undefined)
    const audit = await annex.api('GET', '/v1/audit')
    const ofToken = audit.json.items.filter((one: Json) => one.subject.id === id)
    assert.deepEqual(ofToken.map((one: Json) => one.action).toSorted(), ['token.create', 'token.revoke'])
    assert.ok(!audit.text.includes(token))
  })

  it('ends at its expiry, which must lie in the future', async () => {
    const soon = new Date(Date.now() + 1_000).toISOString()
    const { token } = await createToken({ expiresAt: soon })
    await until(
      () => as(token)('GET', '/v1/orgs/acme'),
      ({ status }) => status === 401,
    )
    assert.ok(Date.now() >= Date.parse(soon))
    const late = await annex.api('POST', '/v1/orgs/acme/tokens', { expiresAt: '2020-01-01T00:00:00Z' })
    assert.deepEqual(refusal(late), [422, 'body_invalid'])
  })

  it('creates tokens with at most its own role', async () => {
    const admin = as((await createToken({ role: 'admin' })).token)
    const tokens = '/v1/orgs/acme/tokens'
    assert.equal((await admin('POST', tokens, { role: 'editor' })).status, 201)
    assert.deepEqual(refusal(await admin('POST', tokens, { role: 'operator' })), [403, 'forbidden'])
    const editor = as((await createToken({ role: 'editor' })).token)
    assert.deepEqual(refusal(await editor('POST', tokens, { role: 'reader' })), [403, 'forbidden'])
    assert.deepEqual(refusal(await editor('GET', tokens)), [403, 'forbidden'])
    assert.deepEqual(refusal(await admin('GET', '/v1/orgs/other/tokens')), [404, 'not_found'])
  })

  it('belongs to the member who creates it, and ends with that member', async () => {
    const members = '/v1/orgs/acme/members'
    for (const [email, role] of [
      ['cleo@example.com', 'admin'],
      ['dan@example.com', 'reader'],
    ])
      assert.equal((await annex.api('POST', members, { email, role })).status, 201)
    const { json: made } = await createToken({ member: 'cleo@example.com' })
    const cleo = as(made.token)
    const tokens = '/v1/orgs/acme/tokens'
    for (const body of [{}, { member: 'CLEO@example.com' }, { member: made.member }, { role: 'reader' }]) {
      const { status, json } = await cleo('POST', tokens, body)
      assert.deepEqual([status, json.member], [201, made.member], JSON.stringify(body))
    }
    const { json: heir } = await cleo('POST', tokens, {})
    for (const body of [{ member: 'dan@example.com' }, { member: null }, { member: null, role: 'reader' }])
      assert.deepEqual(refusal(await cleo('POST', tokens, body)), [403, 'forbidden'], JSON.stringify(body))
    assert.deepEqual(refusal(await cleo('POST', tokens, { member: 'eve@example.com' })), [404, 'not_found'])
    await annex.api('DELETE', `${members}/cleo@example.com`)
    assert.equal((await as(heir.token)('GET', '/v1/orgs/acme')).status, 401)
  })

  it('without a member creates none for a member, unless it belongs to an operator', async () => {
    await annex.api('POST', '/v1/orgs/acme/members', { email: 'finn@example.com', role: 'reader' })
    const admin = as((await createToken({ role: 'admin' })).token)
    const tokens = '/v1/orgs/acme/tokens'
    assert.deepEqual(refusal(await admin('POST', tokens, { member: 'finn@example.com' })), [403, 'forbidden'])
    assert.equal((await admin('POST', tokens, { member: null })).json.member, null)
    assert.equal((await createToken({ member: 'finn@example.com' })).json.role, 'reader')
  })

  it('from a member with the role operator belongs to that member everywhere', async () => {
    const members = '/v1/orgs/acme/members'
    await annex.api('POST', members, { email: 'gil@example.com', role: 'operator' })
    const { json: made } = await createToken({ member: 'gil@example.com' })
    const gil = as(made.token)
    const inOther = await gil('POST', '/v1/orgs/other/tokens', { role: 'admin' })
    const operators = await gil('POST', '/v1/tokens', {})
    assert.deepEqual([inOther.json.member, operators.json.member], [made.member, made.member])
    const free = [
      await gil('POST', '/v1/orgs/other/tokens', { member: null }),
      await gil('POST', '/v1/tokens', { member: null }),
    ]
    assert.deepEqual(
      free.map(({ status, json }) => [status, json.member]),
      [
        [201, null],
        [201, null],
      ],
    )
    await annex.api('PATCH', `${members}/gil@example.com`, { role: 'reader' })
    assert.equal(
      (await as(operators.json.token)('GET', '/v1/tokens')).status,
      401,
      'a reader of no organization',
    )
    assert.deepEqual(refusal(await as(inOther.json.token)('GET', '/v1/orgs/other/tokens')), [
      403,
      'forbidden',
    ])
    await annex.api('DELETE', `${members}/gil@example.com`)
    for (const { json } of [inOther, operators])
      assert.equal((await as(json.token)('GET', '/v1/orgs/other')).status, 401)
    for (const { json } of free) assert.equal((await as(json.token)('GET', '/v1/orgs/other')).status, 200)
  })

  it('that belongs to an operator can be revoked by operators only, at any role', async () => {
    const members = '/v1/orgs/acme/members'
    await annex.api('POST', members, { email: 'hal@example.com', role: 'operator' })
    const admin = as((await createToken({ role: 'admin' })).token)
    const path = (id: string) => `/v1/orgs/acme/tokens/${id}`
    const ofOperators = await Promise.all([
      createToken({ role: 'operator' }),
      createToken({ member: 'hal@example.com' }),
      createToken({ member: 'hal@example.com', role: 'reader' }),
    ])
    for (const { id, token } of ofOperators) {
      assert.deepEqual(refusal(await admin('DELETE', path(id))), [403, 'forbidden'])
      assert.equal((await as(token)('GET', '/v1/orgs/acme')).status, 200)
    }
    // The member is no operator any more.
    await annex.api('PATCH', `${members}/hal@example.com`, { role: 'admin' })
    const [free, ...ofHal] = ofOperators
    for (const { id } of ofHal) assert.equal((await admin('DELETE', path(id))).status, 204)
    assert.equal((await annex.api('DELETE', path(free?.id ?? ''))).status, 204)
  })

  it('without an organization is listed and revoked by operators', async () => {
    const { json: made } = await annex.api('POST', '/v1/tokens', { label: 'laptop' })
    const { json: listed } = await annex.api('GET', '/v1/tokens')
    const labels = listed.items.map(({ label }: { label: string }) => label)
    assert.ok(labels.includes('laptop') && labels.includes('command line'), labels.join())
    assert.equal((await as(made.token)('GET', '/v1/tokens')).status, 200)
    assert.equal((await annex.api('DELETE', `/v1/tokens/${made.id}`)).status, 204)
    assert.equal((await as(made.token)('GET', '/v1/tokens')).status, 401)
    const admin = as((await createToken({})).token)
    assert.deepEqual(refusal(await admin('GET', '/v1/tokens')), [403, 'forbidden'])
  })
})

describe('a private integration', () => {
  it('is hidden from members of other organizations in lists, on its page and at install', async () => {
    const other = as((await createToken({}, 'other')).token)
    const own = as((await createToken({}, 'home')).token)
    const names = async (person: typeof other) =>
      (await person('GET', '/v1/integrations')).json.items.map(({ name }: { name: string }) => name)
    assert.deepEqual([await names(own), await names(other)], [['guarded'], []])
    assert.equal((await own('GET', '/v1/integrations/guarded')).status, 200)
    assert.equal((await other('GET', '/v1/integrations/guarded')).status, 404)
    const path = '/v1/integrations/guarded/installations'
    assert.deepEqual(refusal(await other('POST', path, {})), [404, 'not_found'])
    const { json } = await own('GET', '/v1/integrations/guarded')
    const words = { version: json.version.number, scopes: json.scopes }
    assert.equal((await own('POST', path, words)).status, 201)
  })
})

it('docs/access.md shows the table of roles', () => {
  const page = readFileSync(new URL('../../docs/access.md', import.meta.url), 'utf8')
  for (const [role, may] of Object.entries(roles)) assert.ok(page.includes(`| \`${role}\` | ${may} |`), role)
})
