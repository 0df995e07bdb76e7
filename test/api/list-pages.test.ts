import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

/** Logs a line and queues a task for each number, all for the same second. */
const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { integration }) => {
    for (let n = 0; n < 5; n += 1) {
      console.log('line ' + n)
      await integration.queueTask({ task: { n }, schedule: n < 3 ? 3_600 : 7_200 })
    }
    return new Response('queued')
  },
  task: () => {},
})`

describe('a list in pages', () => {
  const ends = new AsyncDisposableStack()
  let annex: Annex
  let id: string
  before(async () => {
    annex = await startAnnex({ plugins: { queues: { script } } })
    ends.defer(annex.close)
    const installed = await installSample(annex, 'queues')
    id = installed.id
    assert.equal((await fetch(installed.endpoint)).status, 200)
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
    const { items, next } = await list(`/v1/logs?installation=${id}&limit=2&after=0`)
    assert.deepEqual(texts(items), ['line 0', 'line 1'])
    const more = await list(`/v1/logs?installation=${id}&limit=2&after=${next.after}`)
    assert.deepEqual(texts(more.items), ['line 2', 'line 3'])
    const last = await list(`/v1/logs?installation=${id}&limit=2&after=${more.next.after}`)
    assert.deepEqual([texts(last.items), last.next], [['line 4'], undefined])
  })

  const lists = {
    '/v1/logs': ['before', 'after'],
    '/v1/receipts': ['before', 'after'],
    '/v1/usage': ['before'],
    '/v1/jobs': ['before'],
    '/v1/jobs?state=due': ['after'],
    '/v1/deliveries': ['before', 'after'],
    '/v1/receivers': ['before'],
  }
  for (const [path, places] of Object.entries(lists)) {
    const ask = (name: string, value: string) =>
      annex.api('GET', `${path}${path.includes('?') ? '&' : '?'}${name}=${value}`)

    it(`of ${path} refuses a wrong position`, async () => {
      for (const name of ['cursor', 'page', 'offset', 'starting_after']) {
        const { status, json } = await ask(name, '2')
        assert.deepEqual([status, json.error?.code], [400, 'bad_request'], name)
        assert.match(json.error.message, new RegExp(`"${name}" .*: .*${places.join(', ')}`))
      }
      for (const name of ['before', 'after']) {
        for (const value of ['x', 'dlv_x', 'job_', '1.job_', 'rcv_1', '', '%27']) {
          const { status, json } = await ask(name, value)
          assert.equal(status, 400, `${name}=${value}: ${JSON.stringify(json)}`)
          assert.match(json.error.message, new RegExp(name))
        }
      }
    })
  }
})
