import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { installFanOut } from '../soak/kills/fan-out.ts'
import { wrongsOf } from '../soak/kills/print-ledger.ts'
import { siteView } from '../soak/kills/publisher.ts'
import { runKills } from '../soak/kills/run-kills.ts'
import { startHost } from '../support/host-process.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from '../support/receiver.ts'

// A short `make kills`, on the database of the suite.
it('a host that is killed again and again loses nothing, and repeats at most what was in flight', {
  timeout: 300_000,
}, async () => {
  const ledger = await runKills({ rounds: 5, seed: Date.now() % 1_000_000, note: () => {} })
  assert.deepEqual(wrongsOf(ledger), [])
  assert.ok(ledger.acknowledged > 0 && ledger.delivered === ledger.owed)
  const kills = [...ledger.kills.values()].reduce((sum, count) => sum + count, 0)
  assert.equal(kills, 5)
})

it('an event whose host was killed while it was handled still has its retries', {
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
