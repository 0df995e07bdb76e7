// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runAnnex } from '../cli/support/run-annex.ts'
import { installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'
import { createEmptyDatabase } from '../support/test-database.ts'

const pluginsDir = fileURLToPath(new URL('../../plugins', import.meta.url))
const visitor = { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} }

it('an Annex on a copied database makes the pending attempts', async () => {
  await using ends = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'annex-copied-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  const [old, copied] = [join(folder, 'old'), join(folder, 'copied')]
  const receiver = await startReceiver(503, 200)
  ends.defer(receiver.close)

  // The retry is not due before the stop, on a slow machine either.
  const first = await startAnnex({ pluginsDir, dataDir: old, flags: { DELIVERY_RETRY_SECONDS: '5,5,5' } })
  const settings = { webhook_url: receiver.url, site_view: true }
  const { id } = await installSample(first, 'webhook', 'site', settings)
  const event = { type: 'site_view', siteId: first.server.samples.site, visitor, url: 'http://a.example/' }
  const published = await first.api('POST', '/v1/events?organization=home', event)
  await until(
    () => first.api('GET', '/v1/deliveries'),
    ({ json }) => json.items[0]?.attempts === 1,
  )
  await first.close()

  const { url, drop } = await createEmptyDatabase()
  ends.defer(drop)
  const to = url === '' ? `sqlite:${join(copied, 'annex.sqlite')}` : url
  const { code, stderr } = await runAnnex(['copy-database', `sqlite:${join(old, 'annex.sqlite')}`, to])
  assert.equal(code, 0, stderr)
  mkdirSync(copied, { recursive: true })
  copyFileSync(join(old, 'secret.key'), join(copied, 'secret.key'))

  const second = await startAnnex({ pluginsDir, dataDir: copied, flags: { DATABASE_URL: to } })
  ends.defer(second.close)
  const { json } = await until(
    () => second.api('GET', '/v1/deliveries'),
    ({ json }) => json.items[0]?.state === 'delivered',
  )
  assert.deepEqual([json.count, json.items[0].attempts, json.items[0].installation], [1, 2, id])
  const ids = receiver.received.map(({ body }) => (JSON.parse(body) as Json).eventId)
  assert.deepEqual(ids, [published.json.eventId, published.json.eventId])
  const again = await second.api('POST', '/v1/events?organization=home', { ...event, eventId: ids[0] })
  assert.equal(again.json.duplicate, true)
})
