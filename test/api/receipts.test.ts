import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createScriptTokens } from '../../host/access/script-tokens.ts'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { issueToken } from '../../host/access/tokens.ts'
import { createAuthenticate } from '../../host/api/caller.ts'
import { type AppParts, createApp } from '../../host/app.ts'
import { listen } from '../../host/http/listen.ts'
import { createRateLimits } from '../../host/http/rate-limits.ts'
import { createReceiptWriter } from '../../host/sandbox/receipt-writer.ts'
import { type Json, request } from '../support/annex.ts'
import { openSeeded } from '../support/seeded-database.ts'

describe('the list of receipts', () => {
  const ends = new AsyncDisposableStack()
  const organizations: Record<string, { token: string; organizationId?: string; installationId: string }> = {}
  let operator = ''
  let get: (path: string, token?: string) => Promise<{ status: number; json: Json }>
  before(async () => {
    const seeded = await openSeeded()
    ends.defer(seeded.close)
    const { db } = seeded
    const { longReader } = seeded.database
    const installed = { owner: seeded, other: await seeded.addOrganization('other') }
    for (const [name, { organizationId, installationId }] of Object.entries(installed)) {
      const { token } = await issueToken(db, { role: 'admin', organizationId, label: 'test' })
      organizations[name] = { token, organizationId, installationId }
    }
    operator = (await issueToken(db, { role: 'operator', label: 'test' })).token
    const receipts = createReceiptWriter(db, { redact: (_owner, text) => text, onDefect: assert.ifError })
    ends.defer(receipts.close)
    const tokens = createScriptTokens(createSecretBox(new Uint8Array(32)).deriveKey('test'))
    const authenticate = createAuthenticate(db, tokens, {
      limits: createRateLimits({ token: 0, visitor: 0 }, false),
      readSession: async () => undefined,
    })
    const firstLoad = () => undefined
    const parts: Partial<AppParts> = { db, longReader, receipts, authenticate, firstLoad }
    const listening = await listen(createApp(parts as AppParts, assert.ifError), '127.0.0.1', 0)
    ends.defer(listening.close)
    get = (path, token) => request(`http://127.0.0.1:${listening.port}`, 'GET', path, undefined, token)
    const script = await tokens.issue({ kind: 'integration', integration: 'echo', scopes: [] })
    organizations.script = { token: script, installationId: '' }

    const used = { integration: 'echo', type: 'fetch', startedAtMs: Date.now(), cpuMs: 1.2, wallMs: 4 }
    const more = {
      heapBytes: 3_100_000,
      egressCalls: 1,
      egressBytes: 12_000,
      hostCalls: 2,
      deliveries: 1,
      tasks: 3,
    }
    for (const [name, { installationId }] of Object.entries(organizations)) {
      if (installationId === '') continue
      for (let n = 0; n < 5; n += 1) {
        receipts.take({
          ...used,
          ...more,
          requestId: `req_${name}_${n}`,
          installationId,
          outcome: 'ok',
          status: 200,
        })
      }
    }
    receipts.take({ ...used, ...more, requestId: 'req_whole', outcome: 'cpu_limit' })
  })
  after(() => ends.disposeAsync())

  it('is sorted newest first, complete, and has pages', async () => {
    const installation = organizations.owner?.installationId
    const first = await get(`/v1/receipts?installation=${installation}&limit=3`, operator)
    assert.equal(first.status, 200)
    const requests = ({ json }: { json: Json }) => json.items.map(({ request }: Json) => request)
    assert.deepEqual(requests(first), ['req_owner_4', 'req_owner_3', 'req_owner_2'])
    const { id, startedAt, ...receipt } = first.json.items[0]
    assert.ok(Number.isInteger(id) && !Number.isNaN(Date.parse(startedAt)))
    assert.deepEqual(receipt, {
      object: 'receipt',
      request: 'req_owner_4',
      integration: 'echo',
      installation,
      type: 'fetch',
      outcome: 'ok',
      status: 200,
      cpuMs: 1.2,
      wallMs: 4,
      heapBytes: 3_100_000,
      egressCalls: 1,
      egressBytes: 12_000,
      hostCalls: 2,
      deliveries: 1,
      tasks: 3,
    })
    const { page } = first.json.next
    const second = await get(`/v1/receipts?installation=${installation}&limit=3&page=${page}`, operator)
    assert.deepEqual(requests(second), ['req_owner_1', 'req_owner_0'])
    assert.equal(second.json.next, undefined)
    const after = await get(
      `/v1/receipts?installation=${installation}&after=${first.json.items[2].id}`,
      operator,
    )
    assert.deepEqual(requests(after), ['req_owner_3', 'req_owner_4'])
  })

  it('leads to each receipt, with no outbound request where none was made', async () => {
    const { token } = organizations.other ?? { token: '' }
    const [receipt] = (await get('/v1/receipts?limit=1', token)).json.items
    const { status, json } = await get(`/v1/receipts/${receipt.id}`, token)
    assert.equal(status, 200)
    assert.deepEqual(json, { ...receipt, outboundRequests: [], outboundRequestsLeftOut: 0 })
    const { status: hidden } = await get(`/v1/receipts/${receipt.id}`, organizations.owner?.token)
    assert.equal(hidden, 404)
    assert.equal((await get(`/v1/receipts/${receipt.id}`, organizations.script?.token)).status, 403)
  })

  it('shows an operator one organization, in pages', async () => {
    const { organizationId, token } = organizations.owner ?? { token: '' }
    const list = `/v1/receipts?organization=${organizationId}&limit=4`
    const first = await get(list, operator)
    const second = await get(`${list}&page=${first.json.next.page}`, operator)
    const requests = [...first.json.items, ...second.json.items].map(({ request }: Json) => request)
    assert.deepEqual(requests, [
      'req_whole',
      ...['req_owner_4', 'req_owner_3', 'req_owner_2', 'req_owner_1', 'req_owner_0'],
    ])
    assert.equal((await get(`${list}&outcome=failed`, operator)).json.count, 1)
    assert.equal((await get('/v1/receipts?organization=none', operator)).status, 404)
    assert.equal((await get(`/v1/receipts?organization=${organizationId}`, token)).json.count, 6)
    const foreign = `/v1/receipts?organization=${organizations.other?.organizationId}`
    assert.equal((await get(foreign, token)).status, 404)
  })

  it('can be filtered by outcome and type', async () => {
    const filters = {
      'outcome=failed': 1,
      'outcome=cpu_limit': 1,
      'outcome=ok': 10,
      'type=fetch': 11,
      'type=task': 0,
    }
    for (const [filter, count] of Object.entries(filters)) {
      assert.equal((await get(`/v1/receipts?${filter}`, operator)).json.count, count, filter)
    }
  })

  it('can be filtered by the id of a request', async () => {
    const { json } = await get('/v1/receipts?request=req_whole', operator)
    assert.equal(json.count, 1)
    assert.equal(json.items[0].outcome, 'cpu_limit')
    assert.equal(json.items[0].installation, undefined)
  })

  it('has sums by minute, hour or day', async () => {
    for (const by of ['minute', 'hour', 'day']) {
      const { json } = await get(`/v1/usage?integration=echo&by=${by}`, operator)
      const total = json.items.reduce((sum: number, { dispatches }: Json) => sum + dispatches, 0)
      assert.equal(total, 11, by)
      assert.equal(json.items[0].maxHeapBytes, 3_100_000)
    }
    const wrong = await get('/v1/usage?by=century', operator)
    assert.equal(wrong.status, 400)
    assert.match(wrong.json.error.message, /by must be one of "minute", "hour", "day"/)
    assert.equal((await get('/v1/usage?page=yesterday', operator)).status, 400)
  })

  const readers = [
    { who: 'the owner of the integration', name: 'owner', receipts: 6 },
    { who: 'another organization that installed it', name: 'other', receipts: 5 },
  ]
  for (const { who, name, receipts } of readers) {
    it(`shows ${who} its own ${receipts} only`, async () => {
      const { token, installationId } = organizations[name] ?? { token: '', installationId: '' }
      const { json } = await get('/v1/receipts', token)
      assert.equal(json.count, receipts)
      const seen = new Set(json.items.map(({ installation }: Json) => installation))
      assert.ok([...seen].every((id) => id === undefined || id === installationId))
      const usage = await get('/v1/usage?by=day', token)
      const total = usage.json.items.reduce((sum: number, { dispatches }: Json) => sum + dispatches, 0)
      assert.equal(total, receipts)
    })
  }

  it('is closed to scripts and to callers without a token', async () => {
    for (const path of ['/v1/receipts', '/v1/usage']) {
      assert.equal((await get(path, organizations.script?.token)).status, 403)
      assert.equal((await get(path)).status, 401)
    }
  })
})
