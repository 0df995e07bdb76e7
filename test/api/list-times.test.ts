// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

/** Each request logs a line and queues a task that fails. */
const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (_request, { integration }) => {
    console.log('asked')
    await integration.queueTask({ task: {} })
    return new Response('done')
  },
  task: () => {
    throw new Error('it fails')
  },
})`

/** Each list with the field that its times mean. The first filter leaves what the test itself makes. */
const lists: [path: string, timeOf: (item: Json) => string][] = [
  ['/v1/audit?action=site.create', ({ at }) => at],
  ['/v1/audit?action=site.create&organization=home', ({ at }) => at],
  ['/v1/logs?level=info', ({ at }) => at],
  ['/v1/logs?level=info&organization=home', ({ at }) => at],
  ['/v1/receipts?type=fetch', ({ startedAt }) => startedAt],
  ['/v1/receipts?type=fetch&organization=home', ({ startedAt }) => startedAt],
  ['/v1/jobs?kind=task', ({ finishedAt }) => finishedAt],
  ['/v1/jobs?kind=task&organization=home', ({ finishedAt }) => finishedAt],
]

describe('the span of time of a list', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ plugins: { works: { script } }, flags: { DELIVERY_RETRY_SECONDS: '0.1' } })
    const { endpoint } = await installSample(annex, 'works')
    for (const [n, slug] of ['one', 'two', 'three'].entries()) {
      await annex.api('POST', '/v1/orgs/home/sites', { slug, title: slug })
      await fetch(endpoint)
      // The times of the three differ.
      await until(
        () => annex.api('GET', '/v1/jobs'),
        ({ json }) => json.count === n + 1,
        20,
      )
    }
  })
  after(() => annex.close())

  const read = async (path: string): Promise<Json> => (await annex.api('GET', path)).json
  const later = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString()

  for (const [path, timeOf] of lists) {
    it(`of ${path} begins with \`since\` and ends before \`until\``, async () => {
      const all: Json[] = (await read(path)).items
      assert.equal(all.length, 3)
      const times = all.map(timeOf).sort()
      const [first = '', second = '', third = ''] = times
      const of = async (query: Record<string, string>) =>
        (await read(`${path}&${new URLSearchParams(query)}`)).items.map(timeOf).sort()
      assert.deepEqual(await of({ since: second }), [second, third])
      assert.deepEqual(await of({ since: later(second, 1) }), [third])
      assert.deepEqual(await of({ until: second }), [first])
      assert.deepEqual(await of({ until: later(second, 1) }), [first, second])
      assert.deepEqual(await of({ since: second, until: third }), [second])
      assert.deepEqual(await of({ since: third, until: first }), [], 'an empty span')
      assert.deepEqual(await of({ since: '0001-01-01', until: '9999-12-31T23:59:59Z' }), times)
      const inBerlin = `${new Date(Date.parse(second) + 7_200_000).toISOString().slice(0, -1)}+02:00`
      assert.deepEqual(await of({ since: inBerlin }), [second, third], 'another time zone')
      const [page] = [await read(`${path}&limit=1&since=${second}`)]
      const next = await read(`${path}&limit=1&since=${second}&page=${page.next.page}`)
      assert.deepEqual([...page.items, ...next.items].map(timeOf).sort(), [second, third])
      assert.equal(next.next, undefined)
    })

    it(`of ${path} refuses what is no time`, async () => {
      for (const name of ['since', 'until'])
        for (const text of ['yesterday', '', '2026-02-30', "'", '-1', '99999999999999999999', '%00']) {
          const { status, json } = await annex.api('GET', `${path}&${name}=${text}`)
          assert.deepEqual([status, json.error?.code], [400, 'bad_request'], `${name}=${text}`)
        }
      const { json } = await annex.api('GET', `${path}&until=tomorrow`)
      assert.match(json.error.message, /^until is a time such as/)
    })
  }

  it('limits an export of changes, too', async () => {
    const { items } = await read('/v1/audit?action=site.create')
    const { text } = await annex.api('GET', `/v1/audit/export?action=site.create&since=${items[1].at}`)
    const ids = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    assert.deepEqual(ids, [items[0].id, items[1].id])
    assert.equal((await annex.api('GET', '/v1/audit/export?until=never')).status, 400)
  })

  it('means of a pending job when it was made', async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    for (const state of ['due', 'running', 'waiting'])
      assert.deepEqual((await read(`/v1/jobs?state=${state}&since=${soon}`)).items, [])
  })
})
