// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const script = `
import { createIntegration } from '@annex/runtime'
const fail = async (what, eventId) => {
  console.log('began ' + what + ' ' + eventId)
  if (what === 'throws') throw new Error('it never works')
  if (what === 'hangs') await new Promise((resolve) => setTimeout(resolve, 20_000))
}
export default createIntegration({
  fetch: async (request, { integration }) => {
    const given = new URL(request.url).searchParams
    try {
      await integration.queueTask({ task: { what: given.get('what') }, schedule: Number(given.get('in') ?? 0) })
      return new Response('queued')
    } catch (error) {
      return new Response(String(error), { status: 400 })
    }
  },
  events: { site_view: (event) => fail(event.url.split('/').at(-1), event.eventId) },
  task: (task) => fail(task.what, 'task'),
})`

describe('an event or a task that fails', () => {
  const ends = new AsyncDisposableStack()
  let annex: Annex
  let installed: { id: string; endpoint: string; path: string }
  before(async () => {
    annex = await startAnnex({
      sandboxes: 'processes',
      plugins: { fails: { script, scopes: ['site:views:read'] } },
      flags: { DELIVERY_RETRY_SECONDS: '0.2,0.2' },
    })
    ends.defer(annex.close)
    installed = await installSample(annex, 'fails', 'site')
    const { path } = installed
    await until(
      () => annex.api('GET', path),
      ({ json }) => json.status === 'active',
    )
  })
  after(() => ends.disposeAsync())

  const jobs = async (query: string): Promise<Json[]> =>
    (await annex.api('GET', `/v1/jobs?${query}`)).json.items
  const queue = (query: string) => fetch(`${installed.endpoint}?${query}`)
  const failed = (isIt: (job: Json) => boolean): Promise<Json> =>
    until(
      async () => (await jobs('')).find(isIt),
      (job) => job !== undefined,
    )
  const began = async (text: string): Promise<number> => {
    const { json } = await annex.api('GET', `/v1/logs?installation=${installed.id}&limit=200`)
    return json.items.filter((line: Json) => line.text === text).length
  }
  const publish = (what: string) =>
    annex.api('POST', `/v1/events?organization=${annex.server.samples.organization}`, {
      type: 'site_view',
      siteId: annex.server.samples.site,
      visitor: { anonymousId: 'v1', userAgent: 'test', ip: '203.0.113.7', cookies: {} },
      url: `https://docs.example/${what}`,
      referrer: 'https://search.example/',
    })

  it('is retried on schedule with the same eventId, and kept as failed with its log', async () => {
    const { eventId } = (await publish('throws')).json
    const job = await failed(({ event }) => event.id === eventId)
    assert.deepEqual(
      [job.kind, job.state, job.attempts, job.integration, job.installation],
      ['event', 'failed', 3, 'fails', installed.id],
    )
    assert.deepEqual(job.target, { site: annex.server.samples.site })
    assert.match(job.error.request, /^req_/)
    assert.deepEqual(
      (await jobs(`event=${eventId}`)).map(({ id }) => id),
      [job.id],
    )
    for (const query of [`event=${eventId.slice(0, -1)}`, `event=${eventId}&kind=task`, 'event=%25']) {
      assert.deepEqual(await jobs(query), [], query)
    }
    assert.equal(await began(`began throws ${eventId}`), 3)
    const { json } = await annex.api('GET', `/v1/logs?request=${job.error.request}`)
    const texts = json.items.map(({ text }: Json) => text).join('\n')
    assert.match(texts, /began throws[\s\S]*Error: it never works/)
    const shown = await annex.api('GET', `/v1/jobs/${job.id}`)
    assert.equal(shown.json.payload.url, 'https://docs.example/throws')
  })

  it('is kept as failed when it is a task, and can be run again', async () => {
    assert.equal((await queue('what=throws')).status, 200)
    const job = await failed(({ kind }) => kind === 'task')
    assert.equal(await began('began throws task'), 3)
    const again = await annex.api('POST', `/v1/jobs/${job.id}/run`)
    assert.deepEqual([again.status, again.json.state, again.json.attempts], [202, 'due', 0])
    await until(
      () => began('began throws task'),
      (count) => count === 6,
    )
    await failed(({ id }) => id === job.id)
  })

  it('is kept as failed if its process dies each time, after five extra tries', async () => {
    const [before] = await jobs('kind=task')
    await queue('what=hangs')
    // Five ends that were not its doing are no attempts; after them each counts.
    for (let run = 1; run <= 5 + 3; run += 1) {
      await until(
        () => began('began hangs task'),
        (count) => count === run,
      )
      for (const { pid, loaded } of annex.server.sandboxes.processes()) {
        if (loaded > 0 && pid !== undefined) process.kill(pid, 'SIGKILL')
      }
    }
    const job = await failed(({ kind, id }) => kind === 'task' && id > before.id)
    assert.deepEqual([job.state, job.attempts], ['failed', 3])
    const { json } = await annex.api('GET', `/v1/logs?request=${job.error.request}`)
    assert.match(
      json.items.map(({ text }: Json) => text).join('\n'),
      /The sandbox ended while it handled this/,
    )
  })

  it('a task is refused unless it is scheduled 0 to 86,400 whole seconds ahead', async () => {
    for (const seconds of ['-1', '86401', '0.5']) {
      const refused = await queue(`what=later&in=${seconds}`)
      assert.equal(refused.status, 400, seconds)
    }
    await queue('what=later&in=86400')
    const [job] = (await jobs('state=due&kind=task')).slice(-1)
    assert.deepEqual(await jobs(`state=due&event=${job.event.id}`), [job])
    assert.deepEqual(await jobs(`state=running&event=${job.event.id}`), [])
    const aheadMs = Date.parse(job.nextAttemptAt) - Date.parse(job.createdAt)
    assert.ok(Math.abs(aheadMs - 86_400_000) < 60_000, `${aheadMs} ms`)
    const early = await annex.api('POST', `/v1/jobs/${job.id}/run`)
    assert.equal(early.status, 409)
    await queue('what=now&in=0')
    await until(
      () => began('began now task'),
      (count) => count === 1,
    )
  })

  it('waits while its installation is paused', async () => {
    const path = `/v1/integrations/fails/installations/${installed.id}`
    await queue('what=held&in=1')
    await annex.api('POST', `${path}/pause`)
    const [held] = await until(
      () => jobs('state=waiting'),
      ({ length }) => length === 1,
    )
    assert.equal(held.installation, installed.id)
    await annex.api('POST', `${path}/resume`)
    await until(
      () => began('began held task'),
      (count) => count === 1,
    )
  })

  it('is visible to its organization alone, and lists refuse an unknown state or kind', async () => {
    const [job] = await jobs('')
    const org = (await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })).json
    const { token } = (await annex.api('POST', `/v1/orgs/${org.id}/tokens`, {})).json
    assert.equal((await annex.api('GET', '/v1/jobs', undefined, token)).json.count, 0)
    assert.equal((await annex.api('GET', `/v1/jobs/${job.id}`, undefined, token)).status, 404)
    assert.equal((await annex.api('POST', `/v1/jobs/${job.id}/run`, {}, token)).status, 404)
    assert.equal((await annex.api('GET', '/v1/jobs?state=done')).status, 400)
    assert.equal((await annex.api('GET', '/v1/jobs?kind=delivery')).status, 400)
  })
})
