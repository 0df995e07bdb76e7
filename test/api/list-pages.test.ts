import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, request, startAnnex, until } from '../support/annex.ts'
import { readsOf, scansOf } from '../support/query-plan.ts'

/** Reads that sort few rows. */
const sorted: readonly RegExp[] = [
  // Two pages are merged.
  /as `visible` order by `name`/,
  // An organization keeps few rows for each of its installations.
  /from `logs` where \(`installation_id` in/,
  /from `receivers` where `installation_id` in/,
  /from `stores` where `installation_id` = \?/,
  // A page of each installation or integration of an organization is merged.
  /from `installations` as `theirs` cross join `deliveries` as `found`/,
  /as `theirs` cross join `receipts` as `found`/,
  // Those that have ended or will, by a partial index.
  /setting_details like '%"endsAt":%'/,
  // The addresses of one site in a week.
  /as visitors[\s\S]*group by 1 order by 2 desc/,
  // The problems of an operator: each integration has one manifest.
  /SCAN integrations .* where manifest like '%"(secrets|configurations)":%'/,
]

/** Logs a line and queues a task for each number, all for the same second. */
const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { integration, environment }) => {
    for (let n = 0; n < 5; n += 1) {
      console.log('line ' + n)
      await integration.queueTask({ task: { n }, schedule: n < 3 ? 3_600 : 7_200 })
    }
    return Response.json(environment.apiTokens)
  },
  task: () => {},
})`

describe('a list in pages', () => {
  const ends = new AsyncDisposableStack()
  let annex: Annex
  let id: string
  let token: string
  before(async () => {
    const hidden = { script, visibility: 'private' } as const
    annex = await startAnnex({ plugins: { queues: hidden, 'open-two': {}, 'open-one': {} } })
    ends.defer(annex.close)
    const installed = await installSample(annex, 'queues')
    id = installed.id
    token = ((await (await fetch(installed.endpoint)).json()) as { integration: string }).integration
    await until(
      () => list(`/v1/logs?installation=${id}`),
      ({ count }) => count === 5,
    )
  })
  after(() => ends.disposeAsync())

  const list = async (path: string): Promise<Json> => (await annex.api('GET', path)).json
  /** All pages of a list, by `next` of each page. */
  async function pages(path: string): Promise<Json[][]> {
    const all: Json[][] = []
    for (let next: object | undefined = {}; next !== undefined; ) {
      const page = await list(`${path}&${new URLSearchParams(next as Record<string, string>)}`)
      all.push(page.items)
      next = page.next
      assert.ok(all.length < 10, 'it has an end')
    }
    return all
  }

  it('has each pending job once, sorted by due time', async () => {
    const whole = (await list('/v1/jobs?state=due&limit=200')).items
    assert.equal(whole.length, 5)
    for (const limit of [1, 2, 3]) {
      const found = await pages(`/v1/jobs?state=due&limit=${limit}`)
      assert.deepEqual(found.flat(), whole, `${limit} at a time`)
      assert.ok(found.every(({ length }) => length <= limit))
    }
    assert.equal((await list('/v1/jobs?state=due&limit=6')).next, undefined)
    assert.equal((await list('/v1/jobs?state=running&limit=1')).next, undefined)
  })

  it('has all lines of a log, backward from the newest and forward from the oldest', async () => {
    const texts = (items: Json[]) => items.map(({ text }) => text)
    const back = await pages(`/v1/logs?installation=${id}&limit=2`)
    assert.deepEqual(back.map(texts), [['line 3', 'line 4'], ['line 1', 'line 2'], ['line 0']])
    const forward = await pages(`/v1/logs?installation=${id}&limit=2&after=0`)
    assert.deepEqual(forward.map(texts), [['line 0', 'line 1'], ['line 2', 'line 3'], ['line 4']])
    const last = (await list(`/v1/logs?installation=${id}`)).items[3]
    assert.deepEqual(texts((await list(`/v1/logs?installation=${id}&after=${last.id}`)).items), ['line 4'])
  })

  it('has each record once, in the same order, also during inserts and deletes', async () => {
    const make = async (slug: string) =>
      (await annex.api('POST', '/v1/orgs/home/sites', { slug, title: slug })).json
    const made = [await make('one'), await make('two'), await make('three')]
    const before = (await list('/v1/orgs/home/sites')).items.map(({ slug }: Json) => slug)
    const first = await list('/v1/orgs/home/sites?limit=2')
    // The last of the first page goes, and a new one comes.
    await annex.api('DELETE', `/v1/orgs/home/sites/${first.items[1].id}`)
    await make('four')
    const rest = await list(`/v1/orgs/home/sites?limit=1000&page=${first.next.page}`)
    const slugs = [...first.items, ...rest.items].map(({ slug }: Json) => slug)
    assert.deepEqual(slugs, [...before, 'four'])
    assert.equal(rest.next, undefined)
    assert.equal(made.length, 3)
  })

  it('accepts a limit above 1,000, and refuses one that is not a positive whole number', async () => {
    for (const path of ['/v1/orgs?', '/v1/logs?', '/v1/installations?', '/v1/jobs?state=due&']) {
      for (const limit of ['1001', '999999999999']) {
        assert.equal((await annex.api('GET', `${path}limit=${limit}`)).status, 200, `${path} ${limit}`)
      }
      for (const limit of ['0', '-1', '1.5', 'x', '', '1e999']) {
        const { status, json } = await annex.api('GET', `${path}limit=${limit}`)
        assert.deepEqual([status, json.error?.code], [400, 'bad_request'], `${path} ${limit}`)
      }
    }
  })

  it('omits settings for people, and has them for the script', async () => {
    const one = await annex.api('GET', `/v1/integrations/queues/installations/${id}`)
    assert.deepEqual(one.json.configuration, {})
    for (const path of ['/v1/installations', '/v1/integrations/queues/installations']) {
      const [item] = (await list(path)).items
      assert.deepEqual([item.id, 'configuration' in item, 'problems' in item], [id, false, false])
    }
    const script = await request(annex.url, 'GET', '/v1/integrations/queues/installations', undefined, token)
    assert.deepEqual(script.json.items[0].configuration, {})
  })

  const paths = [
    '/v1/orgs',
    '/v1/orgs/home/sites',
    '/v1/orgs/home/spaces',
    '/v1/orgs/home/members',
    '/v1/orgs/home/tokens',
    '/v1/tokens',
    '/v1/integrations',
    '/v1/integrations/queues/versions',
    '/v1/integrations/queues/installations',
    '/v1/installations',
    '/v1/logs',
    '/v1/receipts',
    '/v1/usage',
    '/v1/jobs',
    '/v1/jobs?state=due',
    '/v1/deliveries',
    '/v1/receivers',
    '/v1/spaces/handbook/revisions',
  ]
  for (const path of paths) {
    const ask = (name: string, value: string) =>
      annex.api('GET', `${path}${path.includes('?') ? '&' : '?'}${name}=${value}`)

    it(`of ${path} refuses unknown parameters and forged cursors`, async () => {
      for (const name of ['cursor', 'offset', 'starting_after']) {
        const { status, json } = await ask(name, '2')
        assert.deepEqual([status, json.error?.code], [400, 'bad_request'], name)
        assert.match(json.error.message, new RegExp(`"${name}" .*: .*limit, page`))
      }
      const forged = [
        ';',
        'evt_0190a1b2-0000-7000-8000-000000000000',
        "' or 1=1 --",
        '',
        '0'.repeat(20),
        'a\0',
      ]
      for (const text of forged) {
        const { status, json } = await ask('page', Buffer.from(text).toString('base64url'))
        assert.deepEqual([status, json.error?.code], [400, 'bad_request'], text)
        assert.match(json.error.message, /is no page of this list/)
      }
      assert.equal((await ask('page', 'A'.repeat(501))).status, 400)
    })
  }

  it('refuses a cursor of another list, other filters or another organization', async () => {
    const { id: other } = (await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })).json
    const reader = async (organization: string): Promise<string> =>
      (await annex.api('POST', `/v1/orgs/${organization}/tokens`, { role: 'reader' })).json.token
    const [home, theirs] = [await reader('home'), await reader(other)]
    for (const [kind, slugs] of [
      ['sites', ['a', 'b']],
      ['spaces', ['a', 'b']],
    ] as const)
      for (const slug of slugs) await annex.api('POST', `/v1/orgs/${other}/${kind}`, { slug, title: slug })
    await installSample(annex, 'open-one')
    const pageOf = async (path: string, asker?: string): Promise<string> => {
      const { json } = await annex.api('GET', `${path}limit=1`, undefined, asker)
      assert.ok(json.next, path)
      return json.next.page
    }
    const foreign: [string, page: string, path: string, asker?: string][] = [
      ['another list', await pageOf('/v1/orgs?'), '/v1/orgs/home/sites?'],
      ['another kind', await pageOf(`/v1/orgs/${other}/sites?`), `/v1/orgs/${other}/spaces?`],
      ['another organization', await pageOf(`/v1/orgs/${other}/sites?`), '/v1/orgs/home/sites?'],
      ['another organization’s reader', await pageOf('/v1/integrations?', home), '/v1/integrations?', theirs],
      ['an operator', await pageOf('/v1/installations?'), '/v1/installations?', home],
      ['other filters', await pageOf('/v1/installations?'), '/v1/installations?organization=home&'],
      ['another state', await pageOf('/v1/jobs?state=due&'), '/v1/jobs?state=waiting&'],
      ['an altered cursor', alter(await pageOf('/v1/orgs?')), '/v1/orgs?'],
    ]
    for (const [what, page, path, asker] of foreign) {
      const { status, json } = await annex.api('GET', `${path}page=${page}`, undefined, asker)
      assert.deepEqual([status, json.error?.code], [400, 'bad_request'], what)
      assert.match(json.error.message, /no page of this list. Send `next.page` of the page before/, what)
    }
  })

  /** Another id of the same form. */
  function alter(page: string): string {
    const text = Buffer.from(page, 'base64url').toString()
    return Buffer.from(text.slice(0, -1) + (text.endsWith('0') ? '1' : '0')).toString('base64url')
  }

  it('has an organization’s own integrations and public ones of others, by name', async () => {
    const { json } = await annex.api('POST', '/v1/orgs/other/tokens', { role: 'reader' })
    const names = async (limit: number) => {
      const found: string[] = []
      for (let page = ''; ; ) {
        const path = `/v1/integrations?limit=${limit}${page}`
        const answer = (await annex.api('GET', path, undefined, json.token)).json
        found.push(...answer.items.map(({ name }: Json) => name))
        if (answer.next === undefined) return found
        page = `&page=${answer.next.page}`
      }
    }
    for (const limit of [1, 2, 50]) assert.deepEqual(await names(limit), ['open-one', 'open-two'])
    const script = await request(annex.url, 'GET', '/v1/integrations', undefined, token)
    assert.deepEqual(
      script.json.items.map(({ name }: Json) => name),
      ['open-one', 'open-two', 'queues'],
    )
  })

  it('is read by an index that covers the list', async (context) => {
    if (process.env.DATABASE_URL_TEST) return context.skip('PostgreSQL plans by statistics')
    const { samples } = annex.server
    const site = `/v1/orgs/home/sites/${samples.site}`
    const { json } = await annex.api('POST', '/v1/orgs/home/tokens', { role: 'admin' })
    const lists: [path: string, asker?: string][] = [
      ...paths.map((path): [string] => [path]),
      ...['/v1/orgs', '/v1/integrations', '/v1/installations', '/v1/logs', '/v1/receipts', '/v1/usage'].map(
        (path): [string, string] => [path, json.token],
      ),
      ...['/v1/jobs', '/v1/deliveries', '/v1/receivers', '/v1/audit', '/v1/problems'].map(
        (path): [string, string] => [path, json.token],
      ),
      ['/v1/integrations', token],
      ['/v1/integrations?installed=true', json.token],
      ['/v1/integrations?installed=false', json.token],
      ['/v1/integrations?q=q', json.token],
      ['/v1/integrations?installed=true&organization=home'],
      ['/v1/installations?integration=queues'],
      ['/v1/installations?integration=queues', json.token],
      [`/v1/installations/${id}`],
      ['/v1/integrations/queues/installations', token],
      ['/v1/integrations/queues/installations?externalId=T1', token],
      ['/v1/integrations/queues/sites', token],
      ['/v1/integrations/queues/sites?externalId=T1', token],
      [`/v1/integrations/queues/installations/${id}/sites`],
      [`/v1/integrations/queues/installations/${id}/spaces`],
      [`/v1/integrations/queues/installations/${id}/storage`],
      [`/v1/logs?installation=${id}`],
      ['/v1/logs?integration=queues'],
      [`/v1/receipts?installation=${id}`],
      [`/v1/usage?installation=${id}`],
      ['/v1/usage?integration=queues'],
      [`/v1/deliveries?installation=${id}`],
      [`/v1/receivers?installation=${id}`],
      ['/v1/audit'],
      ['/v1/audit?subject=org_1'],
      ['/v1/problems'],
      [`${site}/views`],
      [`${site}/views/counts`],
      [`${site}/views/counts?by=url`],
    ]
    const span = 'since=2026-01-01T00:00:00Z&until=2100-01-01T00:00:00Z'
    for (const path of ['/v1/audit', '/v1/logs', '/v1/receipts', '/v1/jobs'])
      lists.push([`${path}?${span}`, json.token])
    // An operator's log and receipts are read in the order of their ids: each integration and installation keeps few.
    lists.push([`/v1/audit?${span}`], [`/v1/jobs?${span}`])
    lists.push([`/v1/jobs?state=due&${span}`], [`/v1/audit?subject=org_1&${span}`])
    const found: string[] = []
    for (const [path, asker] of lists) {
      const reads = await readsOf(async () => {
        const { status, text } = await annex.api('GET', path, undefined, asker)
        assert.equal(status, 200, `${path}: ${text}`)
      })
      const scans = await scansOf(join(annex.dataDir, 'annex.sqlite'), reads)
      found.push(
        ...scans.filter((scan) => !sorted.some((one) => one.test(scan))).map((scan) => `${path}: ${scan}`),
      )
    }
    assert.deepEqual(found, [])
  })
})
