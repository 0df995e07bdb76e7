// tier: wall (kills of hosts)

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { installFanOut } from '../soak/kills/fan-out.ts'
import { siteView } from '../soak/kills/publisher.ts'
import { type Annex, installSample, type Json, request, startAnnex, until } from '../support/annex.ts'
import { startAnnexProcess } from '../support/annex-process.ts'
import { startHost } from '../support/host-process.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from '../support/receiver.ts'

const pluginsDir = fileURLToPath(new URL('../../plugins', import.meta.url))

it('a host that is killed between two attempts delivers after the next start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-killed-'))
  const dataDir = join(folder, 'data')
  const receiver = await startReceiver(503, 200)
  const prepared = await startAnnex({ dataDir, pluginsDir })
  const { organization, site } = prepared.server.samples
  await installInSite(prepared, receiver.url)
  await prepared.close()

  // The retry is not due before the kill, on a slow machine either.
  const first = await startAnnexProcess(dataDir, pluginsDir, { DELIVERY_RETRY_SECONDS: '5,5,5' })
  const visit = { type: 'site_view', siteId: site, ...visitor }
  const published = await request(
    first.url,
    'POST',
    `/v1/events?organization=${organization}`,
    visit,
    first.token,
  )
  assert.equal(published.status, 202)
  await receiver.waitFor(1)
  // The attempt's outcome is stored a moment after the receiver has answered.
  await until(
    () => request(first.url, 'GET', '/v1/deliveries', undefined, first.token),
    ({ json }) => json.items[0]?.attempts === 1,
  )
  first.child.kill('SIGKILL')
  await first.exited
  assert.equal(receiver.received.length, 1)

  const second = await startAnnexProcess(dataDir, pluginsDir)
  try {
    const { json } = await until(
      () => request(second.url, 'GET', '/v1/deliveries', undefined, second.token),
      ({ json }) => json.items[0]?.state === 'delivered',
    )
    assert.equal(json.count, 1)
    assert.equal(json.items[0].attempts, 2)
    assert.equal(receiver.received.length, 2)
    const ids = receiver.received.map(({ body }) => (JSON.parse(body) as Json).eventId)
    assert.deepEqual(ids, [published.json.eventId, published.json.eventId])
  } finally {
    second.child.kill('SIGTERM')
    await second.exited
    await receiver.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

it('a host that is killed during a handler runs it again after the next start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-killed-'))
  const dataDir = join(folder, 'data')
  // The first request is never answered: the handler is in the middle of it when the host is killed.
  const receiver = await startReceiver(() => {}, 200)
  const slowPlugins = join(folder, 'plugins')
  writePlugin(slowPlugins, 'caller', {
    scopes: ['site:views:read'],
    script: `import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: { site_view: async (event) => {
  await fetch(${JSON.stringify(receiver.url)}, { method: 'POST', body: event.eventId })
} } })`,
  })
  const prepared = await startAnnex({ dataDir, pluginsDir: slowPlugins })
  const { organization, site } = prepared.server.samples
  const { path } = await installSample(prepared, 'caller', 'site')
  await until(
    () => prepared.api('GET', path),
    ({ json }) => json.status === 'active',
  )
  await prepared.close()

  const first = await startAnnexProcess(dataDir, slowPlugins)
  const visit = { type: 'site_view', siteId: site, eventId: 'evt_interrupted', ...visitor }
  await request(first.url, 'POST', `/v1/events?organization=${organization}`, visit, first.token)
  await receiver.waitFor(1)
  first.child.kill('SIGKILL')
  await first.exited
  const second = await startAnnexProcess(dataDir, slowPlugins)
  try {
    const received = await receiver.waitFor(2)
    assert.deepEqual(
      received.map(({ body }) => body),
      ['evt_interrupted', 'evt_interrupted'],
    )
  } finally {
    second.child.kill('SIGTERM')
    await second.exited
    await receiver.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

const visitor = {
  visitor: { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} },
  url: 'https://docs.example/',
  referrer: 'https://docs.example/',
}

const installInSite = (annex: Annex, url: string) =>
  installSample(annex, 'webhook', 'site', { webhook_url: url, site_view: true, page_feedback: false })

it('an event keeps its retries when its host is killed during the handler', {
  timeout: 120_000,
}, async () => {
  await using ends = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'annex-kills-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  const given = { dataDir: join(folder, 'data'), pluginsDir: join(folder, 'plugins') }
  mkdirSync(given.pluginsDir)
  const never = () => {}
  const receiver = await startReceiver(never, never, never, never, 500, 200)
  ends.defer(receiver.close)
  writePlugin(given.pluginsDir, 'fan-out', {
    scopes: ['site:views:read'],
    script: `import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: { site_view: async ({ eventId }) => {
  const { ok } = await fetch('${receiver.url}', { method: 'POST', body: eventId })
  if (!ok) throw new Error('not taken')
} } })`,
  })
  let host = startHost(given)
  ends.defer(() => host.kill())
  const { api, samples, ...listening } = await host.listening
  await installFanOut({ api, samples, ...listening })
  const path = `/v1/events?organization=${samples.organization}`
  assert.equal((await api('POST', path, siteView('evt_cut_off', samples.site))).status, 202)
  for (let kills = 1; kills <= 4; kills++) {
    await receiver.waitFor(kills)
    await host.kill()
    host = startHost(given)
    await host.listening
  }
  const received = await Promise.race([
    receiver.waitFor(6),
    sleep(15_000, undefined, { ref: false }).then(() => receiver.received),
  ])
  assert.equal(received.length, 6, 'the handler that failed once is tried again')
})
