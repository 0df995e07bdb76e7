// tier: wall (kills of PostgreSQL)
// databases: PostgreSQL

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { installSample, startAnnex, until } from '../support/annex.ts'
import { findPostgres, startPostgres } from '../support/postgres-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { noPostgres } from '../support/test-database.ts'

const bin = findPostgres()
const skip =
  noPostgres || (bin === undefined && 'no programs of PostgreSQL on this machine, to restart a server')
const pluginsDir = fileURLToPath(new URL('../../plugins', import.meta.url))

it('a restart of PostgreSQL delays pending deliveries, and loses none', { skip }, async () => {
  await using ends = new AsyncDisposableStack()
  const server = await startPostgres(bin ?? '')
  ends.defer(server.close)
  // The first attempt fails, so that a delivery is pending while the database is away.
  const receiver = await startReceiver(503, 200)
  ends.defer(receiver.close)
  const annex = await startAnnex({ pluginsDir, flags: { DATABASE_URL: server.url } })
  ends.defer(annex.close)
  const { organization, site } = annex.server.samples
  const settings = { webhook_url: receiver.url, site_view: true, page_feedback: false }
  await installSample(annex, 'webhook', 'site', settings)
  const publish = (eventId: string) =>
    annex.api('POST', `/v1/events?organization=${organization}`, {
      type: 'site_view',
      siteId: site,
      eventId,
      visitor: { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} },
      url: 'https://docs.example/',
      referrer: 'https://docs.example/',
    })
  assert.equal((await publish('evt_before')).status, 202)
  await receiver.waitFor(1)
  await server.stop()
  const refused = await publish('evt_away')
  assert.deepEqual([refused.status, refused.json.error.code], [503, 'storage_busy'])
  assert.equal((await annex.api('GET', '/healthz')).status, 200)
  assert.equal((await annex.api('GET', '/readyz')).status, 503)
  await server.start()
  await until(
    () => annex.api('GET', '/readyz'),
    ({ status }) => status === 200,
  )
  assert.equal((await publish('evt_after')).status, 202)
  const { json } = await until(
    () => annex.api('GET', '/v1/deliveries'),
    ({ json }) =>
      json?.count === 2 && json.items.every(({ state }: { state: string }) => state === 'delivered'),
  )
  const events = new Set(receiver.received.map(({ body }) => JSON.parse(body).eventId))
  assert.deepEqual(events, new Set(['evt_before', 'evt_after']))
  assert.equal(json.items.length, 2)
})
