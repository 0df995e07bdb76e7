import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { exportText, importText, toComparable, toRecords } from '../support/moving.ts'
import { startReceiver } from '../support/receiver.ts'

/** Owes what it is told to owe, and says of each whether that was taken. */
const script = `
import { createIntegration } from '@annex/runtime'
const isTaken = (call) => call.then(() => true, () => false)
export default createIntegration({
  fetch: async (request, { integration }) => {
    const { deliveries = [], tasks = [] } = await request.json()
    const taken = []
    for (const delivery of deliveries) taken.push(await isTaken(integration.queueDelivery(delivery)))
    for (const task of tasks) taken.push(await isTaken(integration.queueTask({ task, schedule: 3600 })))
    return Response.json(taken)
  },
  events: { site_view: () => { throw new Error('to be handled again in an hour') } },
})`
const plugins = { mover: { script, scopes: ['site:views:read'] } }

describe('whatever an installation holds, another Annex takes', () => {
  let source: Annex
  let target: Annex
  let installed: Awaited<ReturnType<typeof installSample>>
  let site: string
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  before(async () => {
    receiver = await startReceiver(200)
    const flags = { SANDBOX_CALLS: '1000', DELIVERY_RETRY_SECONDS: '3600' }
    source = await startAnnex({ plugins, flags })
    target = await startAnnex({ plugins, flags })
    installed = await installSample(source, 'mover')
    const sites = `/v1/orgs/${source.server.samples.organization}/sites`
    site = (await source.api('POST', sites, { slug: 'docs', title: 'Docs' })).json.id
    const inSite = `${installed.path}/sites`
    await source.api('POST', inSite, { site })
    await until(
      () => source.api('GET', `${inSite}/${site}`),
      ({ json }) => json.status === 'active',
    )
  })
  after(async () => {
    await source?.close()
    await target?.close()
    await receiver?.close()
  })

  /** @returns whether each of them was taken */
  const owe = async (what: { deliveries?: Json[]; tasks?: Json[] }): Promise<boolean[]> => {
    const answer = await fetch(installed.endpoint, { method: 'POST', body: JSON.stringify(what) })
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    return JSON.parse(text)
  }
  /** @returns the records of its export, which are the same when it is exported where it was imported */
  const move = async (): Promise<Json[]> => {
    const text = await exportText(source, installed.id)
    await source.api('POST', `${installed.path}/resume`)
    const imported = await importText(target, text, '?replace=true')
    assert.equal(imported.status, 'moving', imported.message)
    assert.deepEqual(
      await toComparable(await exportText(target, installed.id)),
      await toComparable(text),
      'it is there as it was here',
    )
    return toRecords(text)
  }

  it('texts that not every database reads as JSON', async () => {
    const texts = ['\0', '\ud800', '\udc00\ud800', '\\u0000', '\\\0', '"\\', 'a\u2028\u{1f600}']
    const tasks = texts.map((text) => ({ text, [text]: [text] }))
    assert.deepEqual(
      await owe({ tasks }),
      texts.map(() => true),
    )
    const { organization } = source.server.samples
    const published = texts.map((userAgent, n) => ({
      ...{ type: 'site_view', eventId: `evt_${n}`, siteId: site, url: 'https://docs.example/' },
      visitor: { anonymousId: 'v', userAgent, ip: '203.0.113.7', cookies: {} },
    }))
    for (const event of published) {
      const { status, text } = await source.api('POST', `/v1/events?organization=${organization}`, event)
      assert.equal(status, 202, text)
    }
    const records = await move()
    const queued = records.filter(({ kind }) => kind === 'task').map(({ subject }) => subject.event.task)
    assert.deepEqual(queued, tasks)
    const events = records.filter(({ record }) => record === 'event').map(({ payload }) => payload)
    assert.deepEqual(events, published)
  })
})
