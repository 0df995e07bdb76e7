import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

/** Runs the JavaScript of its request's body with the storage, and answers with its value. */
const script = `
import { createIntegration, StorageConflict } from '@annex/runtime'
const acts = {
  async count(storage, { key }) {
    for (;;) {
      const stored = await storage.get(key)
      const condition = stored ? { ifVersion: stored.version } : { ifAbsent: true }
      try { return await storage.put(key, (stored?.value ?? 0) + 1, condition) }
      catch (error) { if (!(error instanceof StorageConflict)) throw error }
    }
  },
  get: (storage, { key }) => storage.get(key),
  list: (storage, { options }) => storage.list(options),
  put: (storage, { key, value, options, length, depth }) => {
    for (let n = 0; n < depth; n += 1) value = [value]
    return storage.put(key, length ? 'x'.repeat(length) : value, options)
  },
  delete: (storage, { key, options }) => storage.delete(key, options),
}
export default createIntegration({ fetch: async (request, { storage }) => {
  const { act, of, ...given } = await request.json()
  try {
    return Response.json({ value: await acts[act](of ? storage.of(of) : storage, given) ?? null })
  } catch (error) {
    return Response.json({ error: error.name, message: error.message, version: error.version })
  }
} })`

describe('the storage of a script', () => {
  let annex: Annex
  let endpoint: string
  let id: string
  let siteEndpoint: string
  before(async () => {
    annex = await startAnnex({ plugins: { counter: { script } }, flags: { STORAGE_LEVEL_MB: '1' } })
    const installed = await installSample(annex, 'counter', 'site')
    id = installed.id
    siteEndpoint = installed.endpoint
    endpoint = siteEndpoint.replace(/\/sites\/.*/, '')
  })
  after(() => annex.close())

  const ask = async (asked: object, at = endpoint): Promise<Json> => {
    const response = await fetch(at, { method: 'POST', body: JSON.stringify(asked) })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    return JSON.parse(text)
  }
  const put = (key: string, value: unknown, options = {}, at = endpoint) =>
    ask({ act: 'put', key, value, options }, at)
  const get = (key: string, at = endpoint) => ask({ act: 'get', key }, at)
  const storage = (installation = id) =>
    annex.api('GET', `/v1/integrations/counter/installations/${installation}/storage`)

  it('keeps any JSON value, and gives each write a new version', async () => {
    assert.deepEqual(await get('a'), { value: null })
    let last = 0
    for (const value of [1, 'text', null, false, [], { deep: [{ er: 'ü\0\ud83d' }] }, { __proto__: 1 }]) {
      const { version } = (await put('a', value)).value
      assert.ok(version > last)
      last = version
      assert.deepEqual(await get('a'), { value: { value, version } })
    }
    assert.deepEqual(await ask({ act: 'delete', key: 'a' }), { value: true })
    assert.deepEqual(await ask({ act: 'delete', key: 'a' }), { value: false })
    assert.deepEqual(await get('a'), { value: null })
  })

  it('counts to 20 for 20 simultaneous increments', async () => {
    const counts = await Promise.all(Array.from({ length: 20 }, () => ask({ act: 'count', key: 'n' })))
    assert.equal(new Set(counts.map(({ value }) => value.version)).size, 20)
    assert.equal((await get('n')).value.value, 20)
  })

  it('lets one of many writers win', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, (_, n) => put('once', n, { ifAbsent: true })))
    assert.equal(all.filter(({ value }) => value !== undefined).length, 1)
    const { version } = (await get('once')).value
    for (const { error, ...rest } of all.filter(({ value }) => value === undefined)) {
      assert.deepEqual([error, rest.version], ['StorageConflict', version])
    }
  })

  it('gives a deleted key none of its earlier versions again', async () => {
    const { version } = (await put('again', 1)).value
    assert.equal(
      (await ask({ act: 'delete', key: 'again', options: { ifVersion: version + 1 } })).error,
      'StorageConflict',
    )
    assert.equal((await ask({ act: 'delete', key: 'again', options: { ifVersion: version } })).value, true)
    await put('again', 2)
    assert.equal((await put('again', 3, { ifVersion: version })).error, 'StorageConflict')
    assert.equal((await get('again')).value.value, 2)
  })

  it('forgets a value after its lifetime', async () => {
    await put('brief', 1, { ttlSeconds: 1 })
    const { value } = await get('brief')
    assert.ok(Date.parse(value.expiresAt) > Date.now() - 60_000)
    await until(
      () => get('brief'),
      (answer) => answer.value === null,
    )
    assert.ok((await put('brief', 2, { ifAbsent: true })).value.version > value.version)
    assert.equal((await get('brief')).value.expiresAt, undefined)
  })

  it('lists keys in order, in pages', async () => {
    for (const key of ['list/b', 'list/ä', 'list/a', 'list/B', 'other']) await put(key, key)
    const page = (options: object) => ask({ act: 'list', options: { prefix: 'list/', ...options } })
    const first = (await page({ limit: 3 })).value
    assert.deepEqual(
      first.items.map(({ key }: Json) => key),
      ['list/B', 'list/a', 'list/b'],
    )
    assert.ok(
      first.items.every(
        ({ version, bytes, value }: Json) => version > 0 && bytes > 100 && value === undefined,
      ),
    )
    const { items, next } = (await page({ limit: 3, after: first.next })).value
    assert.deepEqual([items.map(({ key }: Json) => key), next], [['list/ä'], undefined])
  })

  it('is separate for each level, and a script reaches the levels above its own', async () => {
    await put('level', 'installation')
    await put('level', 'site', {}, siteEndpoint)
    await ask({ act: 'put', of: 'integration', key: 'level', value: 'integration' }, siteEndpoint)
    assert.equal((await get('level', siteEndpoint)).value.value, 'site')
    assert.equal(
      (await ask({ act: 'get', of: 'installation', key: 'level' }, siteEndpoint)).value.value,
      'installation',
    )
    const above = `${annex.url}/x/counter`
    assert.equal((await get('level', above)).value.value, 'integration')
    assert.match(
      (await ask({ act: 'get', of: 'installation', key: 'level' }, above)).message,
      /no installation/,
    )
    assert.match((await ask({ act: 'get', of: 'site', key: 'level' }, endpoint)).message, /arguments\/of/)
  })

  it('is separate for each installation', async () => {
    await put('secret', 'of one')
    const made = await annex.api('POST', '/v1/orgs', { subdomain: 'second', title: 'Second' })
    assert.equal(made.status, 201, made.text)
    const { json } = await annex.api('POST', '/v1/integrations/counter/installations', {
      organization: 'second',
      ...(await agreementTo(annex, 'counter')),
    })
    const other = json.urls.publicEndpoint
    assert.deepEqual((await ask({ act: 'list', options: {} }, other)).value.items, [])
    assert.equal((await get('secret', other)).value, null)
  })

  const refused: [what: string, asked: object, message: RegExp][] = [
    ['an empty key', { key: '', value: 1 }, /arguments\/key/],
    ['a long key', { key: 'k'.repeat(513), value: 1 }, /arguments\/key/],
    ['a key with U+0000', { key: 'a\0', value: 1 }, /U\+0000/],
    ['a key with half a pair', { key: 'a\ud800', value: 1 }, /half of a surrogate/],
    ['no value', { key: 'a' }, /no JSON value/],
    ['a value with too many levels', { key: 'a', value: 1, depth: 70 }, /64 levels/],
    ['a value that is too large', { key: 'a', length: 65_535 }, /65537 bytes as JSON, and at most 65536/],
    ['an invalid version', { key: 'a', value: 1, options: { ifVersion: 1.5 } }, /arguments\/ifVersion/],
    ['an invalid lifetime', { key: 'a', value: 1, options: { ttlSeconds: 0 } }, /arguments\/ttlSeconds/],
    ['an unknown option', { key: 'a', value: 1, options: { level: '/x/other' } }, /arguments/],
  ]
  for (const [what, asked, message] of refused) {
    it(`refuses ${what}`, async () => {
      assert.match((await ask({ act: 'put', ...asked })).message, message)
    })
  }

  it('takes unusual keys unchanged', async () => {
    for (const key of ['__proto__', '../up', "'; drop table stored_values; --", '%', '_x', 'a\nb']) {
      await put(key, key)
      assert.equal((await get(key)).value.value, key)
      assert.deepEqual(
        (await ask({ act: 'list', options: { prefix: key } })).value.items.map((item: Json) => item.key),
        [key],
      )
    }
  })

  it('is encrypted on disk, and listed by size', async () => {
    await put('mark', 'PLAIN-TEXT-MARK')
    for (const file of ['annex.sqlite', 'annex.sqlite-wal'].map((name) => join(annex.dataDir, name))) {
      if (existsSync(file)) assert.ok(!readFileSync(file).includes('PLAIN-TEXT-MARK'), file)
    }
    const { json, text } = await storage()
    const [installation, site] = json.items
    assert.deepEqual([json.count, installation.level, site.level], [2, 'installation', 'site'])
    assert.ok(installation.bytes > installation.keys * 100 && site.keys === 1 && site.site !== undefined)
    assert.ok(!text.includes('mark'))
  })

  it('is limited for each level, and a deletion makes room', async () => {
    const fill = async (n: number) => ask({ act: 'put', key: `large ${n}`, length: 65_000 }, siteEndpoint)
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => fill(n)))
    const full = answers.filter(({ message }) =>
      /more than 1048576 bytes \(STORAGE_LEVEL_MB\)/.test(message ?? ''),
    )
    assert.equal(full.length, 4)
    const { json } = await storage()
    assert.ok(json.items[1].bytes <= 1_048_576)
    const taken = answers.findIndex(({ value }) => value !== undefined)
    await ask({ act: 'delete', key: `large ${taken}` }, siteEndpoint)
    assert.ok((await fill(99)).value.version > 0)
  })

  it('ends with the installation', async () => {
    const path = `/v1/integrations/counter/installations/${id}`
    assert.equal((await annex.api('DELETE', path)).status, 204)
    await until(
      () => annex.api('GET', path),
      ({ status }) => status === 404,
    )
    const { endpoint: fresh, id: next } = await installSample(annex, 'counter')
    assert.equal((await get('level', fresh)).value, null)
    assert.deepEqual((await storage(next)).json.items, [])
  })
})
