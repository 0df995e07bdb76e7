import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, request, startAnnex, until } from '../support/annex.ts'

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
    annex = await startAnnex({ plugins: { queues: { script } } })
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

  it('has each record once, in the same order, also while others are made and deleted', async () => {
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

  it('is cut above 1,000 items, and refuses a limit that is no number', async () => {
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

  it('has no settings for people, and all of them for the script', async () => {
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

    it(`of ${path} refuses what is no page of it`, async () => {
      for (const name of ['cursor', 'offset', 'starting_after']) {
        const { status, json } = await ask(name, '2')
        assert.deepEqual([status, json.error?.code], [400, 'bad_request'], name)
        assert.match(json.error.message, new RegExp(`"${name}" .*: .*limit, page`))
      }
      const foreign = [';', 'evt_0190a1b2-0000-7000-8000-000000000000', "' or 1=1 --", '']
      const isText = ['/v1/integrations', '/v1/orgs/home/members', '/v1/orgs/home/tokens', '/v1/tokens']
      const refused = isText.includes(path) ? [''] : foreign
      for (const text of refused) {
        const { status, json } = await ask('page', Buffer.from(text).toString('base64url'))
        assert.deepEqual([status, json.error?.code], [400, 'bad_request'], text)
        assert.match(json.error.message, /is no page of this list/)
      }
      assert.equal((await ask('page', 'A'.repeat(501))).status, 400)
      assert.equal((await ask('page', Buffer.from('a\0').toString('base64url'))).status, 400)
    })
  }
})
