// tier: wall (its attacks use every processor)

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openDatabase } from '../../host/db/open-database.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from '../support/receiver.ts'

/** Ends its process when it is asked to: one operation on huge numbers, which no time-out of V8 stops. */
const bomb = (receiver: string, scheduleSeconds = 3) => `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { integration }) => {
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/kill')) { let n = 2n; for (;;) n = n * n }
    if (pathname.endsWith('/later')) await integration.queueTask({ task: { owed: true }, schedule: ${scheduleSeconds} })
    return new Response('alive')
  },
  task: async (task) => { await fetch('${receiver}', { method: 'POST', body: JSON.stringify(task) }) },
})`

/** This schedule of retries is over after half a second: jobs of a suspended script must outlast it. */
const retries = { DELIVERY_RETRY_SECONDS: '0.1,0.1,0.1' }

const honest = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('fine') })`

describe('a script that ends its process again and again', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'annex-test-'))
  const pluginsDir = join(dataDir, 'plugins')
  let annex: Annex
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let installed: { id: string; endpoint: string; path: string }
  const start = () =>
    startAnnex({
      sandboxes: 'processes',
      ...{ dataDir, pluginsDir },
      flags: { ...retries, SANDBOX_SPARE: 'true', SANDBOX_CPU_MS: '100', SANDBOX_RESIDENT_MB: '512' },
    })
  const endpoint = (path = '') => `${annex.url}${new URL(installed.endpoint).pathname}${path}`
  const code = async (url: string): Promise<string> => {
    const response = await fetch(url)
    const text = await response.text()
    return response.ok ? text : (JSON.parse(text) as Json).error.code
  }
  before(async () => {
    receiver = await startReceiver(200)
    writePlugin(pluginsDir, 'bomb', { script: bomb(receiver.url, 3_600) })
    writePlugin(pluginsDir, 'honest', { script: honest })
    annex = await start()
    installed = await installSample(annex, 'bomb')
  })
  after(async () => {
    await annex.close()
    await receiver.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it('is suspended at the fourth time, while its neighbour is answered', async () => {
    assert.equal(await code(endpoint('/later')), 'alive')
    for (let n = 0; n < 4; n += 1) {
      const before = n < 2 ? undefined : annex.server.sandboxes.processes()
      assert.match(await code(endpoint('/kill')), /cpu_limit|memory_limit|sandbox_died/)
      await until(
        () => code(`${annex.url}/x/honest`),
        (answer) => answer === 'fine',
      )
      const shared = before?.find(({ slot }) => slot === 'operator#0')
      if (shared !== undefined) {
        assert.ok(annex.server.sandboxes.processes().some(({ pid }) => pid === shared.pid))
      }
    }
    const refused = await fetch(endpoint())
    const { error }: Json = await refused.json()
    assert.equal(refused.status, 503)
    assert.equal(error.code, 'installation_suspended')
    assert.match(error.message, /4 times within 10 minutes.*npx annex resume inst_/s)
    assert.equal(await code(`${annex.url}/x/honest`), 'fine')
  })

  it('tells its installer and the operator why', async () => {
    const { json } = await until(
      () => annex.api('GET', installed.path),
      (answer) => answer.json.status === 'suspended',
    )
    assert.match(json.statusReason, /4 times within 10 minutes.*\(SANDBOX_\w+\)/)
    assert.ok(!Number.isNaN(Date.parse(json.suspendedAt)))
    const logs = await annex.api('GET', `/v1/logs?installation=${installed.id}`)
    assert.match(logs.json.items.at(-1).text, /^Suspended\. .*npx annex resume inst_/s)
  })

  it('stays suspended after a restart and after an edit of its settings', async () => {
    await annex.close()
    const { db, close } = await openDatabase('', dataDir)
    // As an hour later: the task is due.
    assert.equal(await db('jobs').where({ kind: 'task' }).update({ dueAt: Date.now() }), 1)
    await close()
    annex = await start()
    assert.equal(await code(endpoint()), 'installation_suspended')
    await annex.api('PATCH', installed.path, { externalIds: ['x'] })
    assert.equal(await code(endpoint()), 'installation_suspended')
    assert.equal(await code(`${annex.url}/x/honest`), 'fine')
  })

  it('runs again after a resume, and gets the task that waited', async () => {
    // Longer than the schedule of retries, which would have given it up.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    assert.equal(receiver.received.length, 0)
    const resumed = await annex.api('POST', `${installed.path}/resume`)
    assert.equal(resumed.json.status, 'active')
    assert.equal(resumed.json.statusReason, undefined)
    assert.equal(await code(endpoint()), 'alive')
    assert.equal((await receiver.waitFor(1)).length, 1)
    assert.equal((await annex.api('POST', `${installed.path}/resume`)).status, 409)
  })

  it('runs again with a new version, which begins without a record', async () => {
    for (let n = 0; n < 4; n += 1) await code(endpoint('/kill'))
    await until(
      () => code(endpoint()),
      (answer) => answer === 'installation_suspended',
    )
    await annex.api('POST', '/v1/reload')
    assert.equal(await code(endpoint()), 'installation_suspended', 'the same version')
    writePlugin(pluginsDir, 'bomb', { script: bomb(receiver.url, 1_800) })
    await annex.api('POST', '/v1/reload')
    assert.equal(await code(endpoint()), 'alive')
    assert.equal((await annex.api('GET', installed.path)).json.status, 'active')
  })

  it('is suspended for the integration as a whole apart from its installations', async () => {
    const whole = `${annex.url}/x/bomb`
    for (let n = 0; n < 4; n += 1) await code(`${whole}/kill`)
    await until(
      () => annex.api('GET', '/v1/integrations/bomb'),
      ({ json }) => json.suspension !== undefined,
    )
    assert.equal(await code(whole), 'installation_suspended')
    assert.equal(await code(endpoint()), 'alive')
    const resumed = await annex.api('POST', '/v1/integrations/bomb/resume')
    assert.equal(resumed.status, 200)
    assert.equal(resumed.json.suspension, undefined)
    assert.equal(await code(whole), 'alive')
  })
})

describe('the task of a paused installation', () => {
  it('waits for longer than the retry schedule, and runs after the resume', async () => {
    const receiver = await startReceiver(200)
    const annex = await startAnnex({
      sandboxes: 'processes',
      plugins: { bomb: { script: bomb(receiver.url) } },
      flags: retries,
    })
    try {
      const { endpoint, path } = await installSample(annex, 'bomb')
      await (await fetch(`${endpoint}/later`)).text()
      assert.equal((await annex.api('POST', `${path}/pause`)).json.status, 'paused')
      // Longer than the schedule of retries, which once gave it up.
      await new Promise((resolve) => setTimeout(resolve, 5_000))
      assert.equal(receiver.received.length, 0)
      assert.equal((await annex.api('POST', `${path}/resume`)).json.status, 'active')
      assert.equal((await receiver.waitFor(1)).length, 1)
    } finally {
      await annex.close()
      await receiver.close()
    }
  })
})
