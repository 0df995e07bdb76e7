import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createCheck } from '../../schemas/create-check.ts'
import { eventSchemas } from '../../schemas/events.ts'
import { agreementTo } from '../support/agreement.ts'
import {
  type Annex,
  type Answered,
  installSample,
  type Json,
  request,
  startAnnex,
  until,
} from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request, { environment }) => Response.json(environment.apiTokens),
  events: { space_visibility_updated: (event) => console.log(JSON.stringify(event)) },
})`
const scopes = ['space:metadata:read', 'space:metadata:write', 'site:metadata:read']

let annex: Annex
let folder: string
const members: Record<string, string> = {}
/** The tokens of scripts that are installed in the sample space. */
const scripts: Record<string, { integration: string; installation: string }> = {}
before(async () => {
  annex = await startAnnex({
    plugins: { reads: { script, scopes: scopes.slice(0, 1) }, writes: { script, scopes } },
  })
  folder = mkdtempSync(join(tmpdir(), 'annex-space-'))
  writeFileSync(join(folder, 'hello.md'), '# Hello\n')
  for (const subdomain of ['acme', 'other']) {
    await annex.api('POST', '/v1/orgs', { subdomain, title: subdomain })
    members[subdomain] = (await annex.api('POST', `/v1/orgs/${subdomain}/tokens`, {})).json.token
  }
  for (const name of ['reads', 'writes']) {
    const { endpoint } = await installSample(annex, name, 'space')
    scripts[name] = (await (await fetch(endpoint)).json()) as (typeof scripts)['reads']
  }
  const { json } = await annex.api('GET', '/v1/integrations/reads/installations')
  const path = `/v1/integrations/reads/installations/${json.items[0].id}/sites`
  await annex.api('POST', path, { site: annex.server.samples.site })
})
after(async () => {
  rmSync(folder, { recursive: true, force: true })
  await annex.close()
})

const refusal = ({ status, json }: Answered) => [status, json.error?.code]
const as =
  (token = '') =>
  (method: string, path: string, body?: unknown) =>
    request(annex.url, method, path, body, token)
const createSpace = (org: string, slug: string, more: object = {}) =>
  annex.api('POST', `/v1/orgs/${org}/spaces`, { slug, title: slug, folder, ...more })
const createSite = (org: string, slug: string, more: object = {}) =>
  annex.api('POST', `/v1/orgs/${org}/sites`, { slug, title: slug, ...more })

describe('an organization', () => {
  it('can be changed, and deleted with all its records', async () => {
    const made = await annex.api('POST', '/v1/orgs', {
      subdomain: 'gone',
      title: 'Gone',
      externalIds: ['ext-org'],
    })
    assert.deepEqual(made.json.externalIds, ['ext-org'])
    const { id } = made.json
    const changed = await annex.api('PATCH', '/v1/orgs/ext-org', { title: 'Going', subdomain: 'going' })
    assert.deepEqual([changed.json.id, changed.json.subdomain, changed.json.title], [id, 'going', 'Going'])
    await createSite('going', 'docs', { externalIds: ['s1'] })
    await createSpace('going', 'notes', { externalIds: ['s1'] })
    await annex.api('POST', '/v1/orgs/going/members', { email: 'a@example.com', role: 'reader' })
    const { token } = (await annex.api('POST', '/v1/orgs/going/tokens', { member: 'a@example.com' })).json
    const deleted = await annex.api('DELETE', `/v1/orgs/${id}`)
    assert.equal(deleted.status, 200, deleted.text)
    const { events, ...others } = deleted.json.deleted
    assert.ok(events >= 0)
    assert.deepEqual(others, { sites: 1, spaces: 1, members: 1, tokens: 1 })
    assert.equal((await as(token)('GET', '/v1/orgs')).status, 401)
    const { items } = (await annex.api('GET', '/v1/audit?action=organization.delete')).json
    assert.deepEqual([items[0].subject.id, items[0].before.sites], [id, 1])
    assert.equal((await annex.api('GET', '/v1/orgs/ext-org')).status, 404)
  })

  it('does not let its admins change its unique names', async () => {
    const admin = as(members.acme)
    assert.equal((await admin('PATCH', '/v1/orgs/acme', { title: 'Acme' })).json.title, 'Acme')
    for (const body of [{ subdomain: 'home2' }, { externalIds: ['home'] }]) {
      assert.deepEqual(refusal(await admin('PATCH', '/v1/orgs/acme', body)), [403, 'forbidden'])
    }
    assert.deepEqual(refusal(await annex.api('PATCH', '/v1/orgs/acme', { subdomain: 'other' })), [
      409,
      'conflict',
    ])
    assert.deepEqual(refusal(await admin('DELETE', '/v1/orgs/acme')), [403, 'forbidden'])
  })

  it('is not deleted while it has installations, or when Annex needs it', async () => {
    assert.deepEqual(refusal(await annex.api('DELETE', '/v1/orgs/home')), [409, 'conflict'])
    await annex.api('POST', '/v1/integrations/reads/installations', {
      organization: 'other',
      ...(await agreementTo(annex, 'reads')),
    })
    const { json } = await annex.api('DELETE', '/v1/orgs/other')
    assert.match(json.error.message, /has installations: reads \(inst_\S+\)\. Uninstall them first/)
    const { json: made } = await annex.api('POST', '/v1/orgs', { subdomain: 'brief', title: 'Brief' })
    const installed = await annex.api('POST', '/v1/integrations/reads/installations', {
      organization: 'brief',
      ...(await agreementTo(annex, 'reads')),
    })
    await annex.api('DELETE', `/v1/integrations/reads/installations/${installed.json.id}`)
    const deleted = await until(
      () => annex.api('DELETE', `/v1/orgs/${made.id}`),
      ({ status }) => status !== 409,
    )
    assert.equal(deleted.status, 200, deleted.text)
  })
})

for (const kind of ['site', 'space'] as const) {
  const create = kind === 'site' ? createSite : createSpace
  const pathOf = (name: string) => (kind === 'site' ? `/v1/orgs/acme/sites/${name}` : `/v1/spaces/${name}`)

  describe(`a ${kind}`, () => {
    it('has title, slug, visibility and external ids, and its members change them', async () => {
      const made = await create('acme', `first-${kind}`, { visibility: 'public', externalIds: ['x1', 'x2'] })
      assert.equal(made.status, 201, made.text)
      assert.deepEqual([made.json.visibility, made.json.externalIds], ['public', ['x1', 'x2']])
      const member = as(members.acme)
      const change = {
        title: 'New',
        slug: `second-${kind}`,
        visibility: 'unlisted',
        externalIds: ['x2', 'x3'],
      }
      const changed = await member('PATCH', pathOf(made.json.id), change)
      assert.equal(changed.status, 200, changed.text)
      const { revision } = changed.json
      assert.deepEqual(changed.json, { ...made.json, ...change, ...(kind === 'space' && { revision }) })
      assert.deepEqual((await member('GET', pathOf(`second-${kind}`))).json, changed.json)
      assert.equal((await create('acme', `third-${kind}`)).json.visibility, 'private')
    })

    it('is found by an external id within its organization only', async () => {
      const mine = (await create('acme', `a-${kind}`, { externalIds: [`${kind}_shared`] })).json
      const theirs = (await create('other', `b-${kind}`, { externalIds: [`${kind}_shared`] })).json
      const org = kind === 'site' ? '/v1/orgs/other/sites/' : '/v1/spaces/'
      assert.equal((await as(members.acme)('GET', pathOf(`${kind}_shared`))).json.id, mine.id)
      assert.equal((await as(members.other)('GET', `${org}${kind}_shared`)).json.id, theirs.id)
      assert.equal((await as(members.acme)('GET', pathOf(theirs.id))).status, 404)
    })

    it('cannot take a slug or external id of another record of its organization', async () => {
      const taken = (await create('acme', `taken-${kind}`, { externalIds: [`taken-id-${kind}`] })).json
      const other = (await create('acme', `free-${kind}`)).json
      for (const body of [{ slug: `taken-${kind}` }, { externalIds: ['new', `taken-id-${kind}`] }]) {
        assert.deepEqual(refusal(await annex.api('PATCH', pathOf(other.id), body)), [409, 'conflict'])
      }
      assert.deepEqual(refusal(await create('acme', `more-${kind}`, { externalIds: [`taken-id-${kind}`] })), [
        409,
        'conflict',
      ])
      assert.equal((await as(members.acme)('GET', pathOf(`more-${kind}`))).status, 404, 'nothing is stored')
      const hiding = { externalIds: [taken.id, `taken-${kind}`] }
      assert.equal((await annex.api('PATCH', pathOf(other.id), hiding)).status, 200)
      for (const name of [taken.id, `taken-${kind}`]) {
        assert.equal((await as(members.acme)('GET', pathOf(name))).json.id, taken.id)
      }
    })

    it('is not deleted while an integration is installed in it', async () => {
      const sample = annex.server.samples[kind]
      const path = kind === 'site' ? `/v1/orgs/home/sites/${sample}` : `/v1/spaces/${sample}`
      const refused = await annex.api('DELETE', path)
      assert.deepEqual(refusal(refused), [409, 'conflict'])
      assert.match(refused.json.error.message, /has installations: reads \(inst_/)
      const made = (await create('acme', `short-${kind}`, { externalIds: ['again'] })).json
      const deleted = await as(members.acme)('DELETE', pathOf('again'))
      assert.deepEqual([deleted.status, deleted.json.id], [200, made.id], deleted.text)
      assert.equal((await annex.api('GET', pathOf(made.id))).status, 404)
      assert.equal(
        (await create('acme', `next-${kind}`, { externalIds: ['again'] })).status,
        201,
        'its id is free',
      )
    })
  })
}

describe('external ids', () => {
  it('can replace ids at installs and in events', async () => {
    await createSite('acme', 'events', { externalIds: ['ext/site'] })
    const admin = as(members.acme)
    const installed = await admin(
      'POST',
      '/v1/integrations/writes/installations',
      await agreementTo(annex, 'writes'),
    )
    const path = `/v1/integrations/writes/installations/${installed.json.id}`
    const installedOn = await admin('POST', `${path}/sites`, { site: 'ext/site' })
    assert.equal(installedOn.status, 201, installedOn.text)
    assert.equal((await admin('GET', `${path}/sites/ext%2Fsite`)).json.site, installedOn.json.site)
    const event = { type: 'site_view', siteId: 'ext/site', url: 'https://x.example/', referrer: '' }
    const published = await admin('POST', '/v1/events', event)
    assert.ok(!/siteId/.test(published.text), published.text)
  })
})

describe('an integration', () => {
  it('lists its sites and spaces in pages, filtered by external id', async () => {
    const { json: all } = await annex.api('GET', '/v1/integrations/writes/installations')
    const home = all.items.find((one: Json) => one.target.organization === annex.server.samples.organization)
    const path = `/v1/integrations/writes/installations/${home.id}/spaces`
    for (const slug of ['p1', 'p2']) {
      const { id } = (await createSpace('home', slug)).json
      await annex.api('POST', path, { space: id })
      await as(scripts.writes?.integration)('PATCH', `${path}/${id}`, { externalIds: [slug, 'both'] })
    }
    const list = async (query: string, token = scripts.writes?.integration) =>
      (await as(token)('GET', `/v1/integrations/writes/spaces?${query}`)).json
    const one = await list('externalId=p1')
    assert.deepEqual([one.count, one.items[0].externalIds, one.next], [1, ['p1', 'both'], undefined])
    const first = await list('externalId=both&limit=1')
    const second = await list(`externalId=both&limit=1&page=${first.next.page}`)
    assert.equal(second.next, undefined)
    const found = [...first.items, ...second.items].map(({ externalIds }: Json) => externalIds[0])
    assert.deepEqual(found, ['p1', 'p2'])
    assert.equal((await list('externalId=p')).count, 0)
    assert.equal((await list('', members.other)).count, 0, 'people see their own organization')
    const forged = await as(scripts.writes?.integration)('GET', '/v1/integrations/writes/spaces?page=x')
    assert.deepEqual(refusal(forged), [400, 'bad_request'])
    const of = await as(scripts.reads?.integration)('GET', '/v1/integrations/writes/sites')
    assert.equal(of.status, 404)
  })
})

describe('the visibility of a space', () => {
  const told = async (): Promise<Json[]> => {
    const { json } = await annex.api('GET', '/v1/logs?integration=writes')
    return json.items
      .filter(({ text }: Json) => text.startsWith('{'))
      .map(({ text }: Json) => JSON.parse(text))
  }

  it('is published at a change, to scripts with the scope space:metadata:read', async () => {
    const { space } = annex.server.samples
    const path = `/v1/spaces/${space}`
    const { visibility: first } = (await annex.api('GET', path)).json
    for (const visibility of ['unlisted', 'unlisted', 'private']) {
      assert.equal((await annex.api('PATCH', path, { visibility })).status, 200)
    }
    await annex.api('PATCH', path, { title: 'Same' })
    const events = await until(told, ({ length }) => length >= 2)
    const changes = events.map((event) => `${event.spaceId} ${event.previousVisibility} ${event.visibility}`)
    assert.deepEqual(
      changes.toSorted(),
      [`${space} ${first} unlisted`, `${space} unlisted private`].toSorted(),
    )
    const check = createCheck(eventSchemas.space_visibility_updated, { strict: false })()
    for (const event of events) assert.ok(check(event), JSON.stringify(check.errors))
  })

  it('is not published by a forged event or a refused change', async () => {
    const { space } = annex.server.samples
    const forged = {
      type: 'space_visibility_updated',
      spaceId: space,
      visibility: 'public',
      previousVisibility: 'private',
    }
    assert.deepEqual(refusal(await annex.api('POST', '/v1/events?organization=home', forged)), [
      422,
      'event_invalid',
    ])
    await createSpace('home', 'taken')
    const refused = await annex.api('PATCH', `/v1/spaces/${space}`, { slug: 'taken', visibility: 'public' })
    assert.equal(refused.status, 409)
    assert.equal((await annex.api('GET', `/v1/spaces/${space}`)).json.visibility, 'private')
    assert.equal((await told()).length, 2)
  })
})

describe('a script', () => {
  it('changes its own space with the scope space:metadata:write, and no other space', async () => {
    const { reads, writes } = scripts
    assert.ok(reads && writes)
    const path = `/v1/spaces/${annex.server.samples.space}`
    const changed = await as(writes.installation)('PATCH', path, {
      title: 'By a script',
      externalIds: ['scripted'],
    })
    assert.deepEqual([changed.status, changed.json.title], [200, 'By a script'], changed.text)
    assert.equal((await as(writes.integration)('GET', '/v1/spaces/scripted')).json.id, changed.json.id)
    assert.deepEqual(refusal(await as(reads.installation)('PATCH', path, { title: 'No' })), [
      403,
      'missing_scope',
    ])
    const elsewhere = (await createSpace('acme', 'elsewhere')).json.id
    assert.equal(
      (await as(writes.installation)('PATCH', `/v1/spaces/${elsewhere}`, { title: 'No' })).status,
      404,
    )
    assert.deepEqual(refusal(await as(writes.installation)('DELETE', path)), [403, 'forbidden'])
  })
})
