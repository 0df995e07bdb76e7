import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { openDatabase } from '../../host/db/open-database.ts'
import { installFanOut } from '../soak/kills/fan-out.ts'
import { siteView } from '../soak/kills/publisher.ts'
import { type Annex, installSample, request, startAnnex, until } from '../support/annex.ts'
import { startHost } from '../support/host-process.ts'
import { shareBuilds } from '../support/kept-builds.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from '../support/receiver.ts'
import { createTestDatabase } from '../support/test-database.ts'

// The handler waits for an answer while another dispatch of its sandbox uses up its CPU time, which ends both.
const scriptFor = (url: string) => `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: () => { for (;;); },
  events: { site_view: async ({ eventId }) => {
    const { ok } = await fetch('${url}', { method: 'POST', body: eventId })
    if (!ok) throw new Error('not taken')
  } },
})`

it('an event keeps its retries when other dispatches end its sandbox', {
  timeout: 120_000,
}, async () => {
  await using ends = new AsyncDisposableStack()
  const never = () => {}
  const receiver = await startReceiver(never, never, never, never, 500, 200)
  ends.defer(receiver.close)
  const plugins = { caller: { scopes: ['site:views:read'], script: scriptFor(receiver.url) } }
  const annex = await startAnnex({ sandboxes: 'processes', plugins, flags: { SANDBOX_CPU_MS: '150' } })
  ends.defer(annex.close)
  const { endpoint, path } = await installSample(annex, 'caller', 'site')
  await until(
    () => annex.api('GET', path),
    ({ json }) => json.status === 'active',
  )
  await publish(annex)
  for (let cuts = 1; cuts <= 4; cuts++) {
    await receiver.waitFor(cuts)
    const { error } = (await request(annex.url, 'GET', new URL(endpoint).pathname)).json
    // A busy machine may end the loop.
    assert.match(error.code, /^(cpu_limit|machine_busy|wall_clock_limit)$/)
  }
  await until(
    async () => receiver.received.length,
    (count) => count === 6,
  )
})

it('an event whose host ends in each attempt fails in the end', {
  timeout: 120_000,
}, async () => {
  await using ends = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'annex-cut-off-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  const made = await createTestDatabase()
  ends.defer(made.drop)
  const dataDir = join(folder, 'data')
  const pluginsDir = join(folder, 'plugins')
  mkdirSync(pluginsDir)
  const receiver = await startReceiver(() => {})
  ends.defer(receiver.close)
  writePlugin(pluginsDir, 'fan-out', { scopes: ['site:views:read'], script: scriptFor(receiver.url) })
  const given = { dataDir, pluginsDir, environment: { DATABASE_URL: made.url } }
  shareBuilds(dataDir)
  let host = startHost(given)
  ends.defer(() => host.kill())
  const listening = await host.listening
  await installFanOut(listening)
  const { organization, site } = listening.samples
  await listening.api('POST', `/v1/events?organization=${organization}`, siteView('evt_deadly', site))
  await receiver.waitFor(1)
  await host.kill()

  const database = await openDatabase(made.url, dataDir)
  ends.defer(database.close)
  const jobs = () => database.db('jobs').select()
  assert.deepEqual(
    (await jobs()).map(({ state, attempt, interruptions }) => [state, attempt, interruptions]),
    [['running', 1, 0]],
  )
  // As after eight more kills: five that were given back, and as many as there are attempts.
  await database.db('jobs').update({ attempt: 4, interruptions: 8 })
  host = startHost(given)
  await host.listening
  const [job] = await until(jobs, ([row]) => row.state === 'failed')
  assert.match(job.lastError, /^Its host ended while it was handled, each of the last 4 times\./)
  assert.equal(receiver.received.length, 1)
})

async function publish({ api, server }: Annex): Promise<void> {
  const { organization, site } = server.samples
  const published = await api('POST', `/v1/events?organization=${organization}`, siteView('evt_cut', site))
  assert.equal(published.status, 202, published.text)
}
