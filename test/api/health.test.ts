import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Router from '@koa/router'
import Koa from 'koa'
import { addHealthRoutes, type HealthParts } from '../../host/api/health.ts'
import { createOperations } from '../../host/api/operations.ts'
import { createGroupCommit } from '../../host/db/group-commit.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { createStorageProbe } from '../../host/db/probe-storage.ts'
import { listen } from '../../host/http/listen.ts'
import type { Wall } from '../../host/sandbox/wall/levels.ts'
import { loadApi } from '../../schemas/api.ts'
import { type Annex, request, startAnnex } from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: () => new Response('hi') })`

describe('health', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ sandboxes: 'processes', plugins: { hello: { script } } })
  })
  after(() => annex?.close())

  it('answers /healthz with 200', async () => {
    const { status, json } = await request(annex.url, 'GET', '/healthz')
    assert.deepEqual([status, json], [200, { status: 'ok' }])
  })

  it('answers /readyz with the state of each part, and with the level of the wall', async () => {
    await request(annex.url, 'GET', '/x/hello')
    const { status, json, text } = await request(annex.url, 'GET', '/readyz')
    assert.equal(status, 200, text)
    assert.equal(json.status, 'ready')
    assert.deepEqual(json.database, { ready: true })
    assert.deepEqual(json.storage, { ready: true })
    assert.equal(json.versions.deployed, 1)
    assert.match(json.versions.digest, /^[0-9a-f]{64}$/)
    assert.deepEqual(json.nativeModule, { ready: true, name: 'isolated-vm', node: process.version })
    assert.deepEqual(json.workers, { ready: true, running: 2 })
    assert.deepEqual(Object.keys(json.sandboxes.levels), [
      'isolate',
      'process',
      'namespace',
      'watchdog',
      'heartbeat',
    ])
    const { level, processes } = json.sandboxes
    assert.ok(['namespace', 'process'].includes(level), level)
    assert.equal(level === 'namespace', json.sandboxes.levels.namespace)
    const slots = processes
      .map(({ slot }: { slot: string }) => slot)
      .filter((slot: string) => slot !== 'spare')
    assert.deepEqual(slots, ['operator#0'])
    for (const found of processes) assert.deepEqual([found.level, found.running], [level, true])
    // It needs no token.
    assert.doesNotMatch(text, /\/tmp|pid|inst_|sqlite:/)
  })
})

describe('readiness', () => {
  it('answers /readyz with 503 and the name of a failing part, without its error text', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'annex-health-'))
    const database = await openDatabase('', folder)
    const router = new Router()
    const wall: Wall = { levels: [], attempts: [], enclosure: [], probeMs: 0 }
    const sandboxes = { processes: () => [] } as unknown as HealthParts['sandboxes']
    const state = () => ({ workers: 2, stopping: true })
    const probeStorage = createStorageProbe(createGroupCommit(database.db), folder)
    const api = loadApi()
    const operations = api.operations.filter(({ id }) => id === 'getHealth' || id === 'getReadiness')
    const authenticate = () => Promise.reject(new Error('both are open to anyone'))
    const rateLimits = { countVisitor: () => undefined }
    const { on, addTo } = createOperations(
      { ...api, operations },
      { authenticate, rateLimits, onMissed: () => {}, onScopeUsed: () => {} },
    )
    addHealthRoutes(on, {
      db: database.db,
      sandboxes,
      wall,
      state,
      probeStorage,
      firstLoad: () => ({ loaded: 120, total: 300, names: new Set() }),
    } as unknown as HealthParts)
    addTo(router)
    const app = new Koa().use(router.routes())
    const listening = await listen(app.callback(), '127.0.0.1', 0)
    const url = `http://127.0.0.1:${listening.port}`
    await database.close()
    const { status, json, text } = await request(url, 'GET', '/readyz')
    assert.equal((await request(url, 'GET', '/healthz')).status, 200)
    await listening.close()
    rmSync(folder, { recursive: true })
    assert.equal(status, 503)
    assert.equal(json.error.code, 'unavailable')
    for (const part of ['database', 'versions', 'nativeModule', 'sandboxes', 'workers']) {
      assert.equal(json[part].ready, false, part)
      assert.match(json.error.message, new RegExp(part))
    }
    assert.match(json.error.message, /workers: Annex is stopping/)
    assert.match(json.error.message, /folders: 120 of 300 plugin folders are loaded/)
    assert.doesNotMatch(text, new RegExp(folder))
  })
})
