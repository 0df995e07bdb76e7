import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { egressFetch } from '../../host/egress/fetch.ts'
import { createResolver } from '../../host/egress/resolver.ts'
import { startNameserver } from '../support/nameserver.ts'
import { openEgress, serve, textOf } from './local-server.ts'

const limits = { timeoutMs: 10_000, maxBytes: 1_000, hops: 0 }
const get = (url: string) => ({ method: 'GET', url, headers: [], redirect: 'follow' as const })
const here = [{ address: '127.0.0.1', family: 4 }]

/** Answers at once, except for names below `silent.test`. */
const startUsual = (t: TestContext) =>
  startNameserver(t, (name) => (name.endsWith('silent.test') ? 'silent' : '127.0.0.1'))

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(10)
}

describe('names with silent nameservers', () => {
  it('delay no fetch of another organization', async (t) => {
    const { address, asked } = await startUsual(t)
    const { port } = await serve(t, (_, response) => response.end('good'))
    const egress = openEgress(t, { resolve: createResolver({ nameservers: [address] }) })
    let ended = 0
    const silent = Array.from({ length: 200 }, async (_, n) => {
      const request = get(`http://${n}.silent.test:${port}/`)
      const fetched = egressFetch(egress, request, { ...limits, tenant: 'org_hostile' })
      await assert.rejects(fetched, { code: 'egress_failed', message: /could not be resolved for now/ })
      ended += 1
    })
    const areSilent = () => new Set(asked.filter((name) => name.endsWith('silent.test')))
    await until(() => areSilent().size === 20)
    for (const tenant of ['org_a', 'org_b', undefined]) {
      const good = Array.from({ length: 25 }, async (_, n) => {
        const request = get(`http://${n}.good.test:${port}/`)
        return await textOf(await egressFetch(egress, request, { ...limits, tenant }))
      })
      assert.deepEqual(new Set(await Promise.all(good)), new Set(['good']))
    }
    assert.equal(ended, 0, 'all silent lookups are still in flight')
    assert.equal(areSilent().size, 20, 'at once')
    await Promise.all(silent)
  })

  it('time out with the lookups behind them, and free their slots', async (t) => {
    const { address } = await startUsual(t)
    const resolve = createResolver({ nameservers: [address], timeoutMs: 500, inFlight: 2 })
    const names = Array.from({ length: 20 }, (_, n) => `${n}.silent.test`)
    await Promise.all(names.map((name) => assert.rejects(resolve(name, 'org'), { code: 'EAI_AGAIN' })))
    await until(async () => (await resolve('good.test', 'org').catch(() => [])).length === 1)
  })
})

describe('a lookup', () => {
  it('skips a silent nameserver', async (t) => {
    const [silent, good] = await Promise.all([startNameserver(t, () => 'silent'), startUsual(t)])
    const resolve = createResolver({ nameservers: [silent.address, good.address] })
    assert.deepEqual(await resolve('good.test', 'org'), here)
    assert.deepEqual([silent.asked[0], good.asked[0]], ['good.test', 'good.test'])
  })

  it('uses the IPv4 addresses if the nameserver never answers for IPv6', async (t) => {
    const { address } = await startNameserver(t, (_, type) => (type === 'A' ? '127.0.0.1' : 'silent'))
    assert.deepEqual(await createResolver({ nameservers: [address] })('good.test'), here)
  })

  it('distinguishes a missing name from a failed lookup', async (t) => {
    const { address } = await startNameserver(t, (name) => (name === 'none.test' ? 'none' : 'broken'))
    const resolve = createResolver({ nameservers: [address] })
    await assert.rejects(resolve('none.test'), { code: 'ENOTFOUND' })
    await assert.rejects(resolve('broken.test'), { code: 'EAI_AGAIN' })
    await assert.rejects(resolve(`${'a'.repeat(64)}.test`), { code: 'ENOTFOUND' })
  })

  it('is shared by simultaneous requests of an organization, but not cached', async (t) => {
    const { address, asked } = await startUsual(t)
    const resolve = createResolver({ nameservers: [address] })
    const ask = (tenant: string) => resolve('Good.test.', tenant)
    assert.deepEqual(await Promise.all([ask('org_a'), ask('org_a'), ask('org_b')]), [here, here, here])
    assert.deepEqual(asked, ['good.test', 'good.test'])
    await ask('org_a')
    assert.equal(asked.length, 3)
  })
})

describe('the hosts file', () => {
  it('comes before DNS, ignores case, and is read again after a change', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'hosts-'))
    t.after(() => rm(folder, { recursive: true }))
    const hostsFile = join(folder, 'hosts')
    await writeFile(hostsFile, '# own\n10.0.0.1\tDB.test db # the database\n::2 db.test\nnonsense db.test\n')
    const { address, asked } = await startUsual(t)
    const resolve = createResolver({ nameservers: [address], hostsFile })
    const both = [
      { address: '10.0.0.1', family: 4 },
      { address: '::2', family: 6 },
    ]
    assert.deepEqual(await resolve('db.test.'), both)
    assert.deepEqual(await resolve('DB'), both.slice(0, 1))
    assert.deepEqual(asked, [])
    await writeFile(hostsFile, '10.0.0.2 db.test')
    let found = both
    while (found[0]?.address !== '10.0.0.2') found = [...(await resolve('db.test'))] as typeof both
    assert.deepEqual(found, [{ address: '10.0.0.2', family: 4 }])
  })

  it('is not needed for localhost', async (t) => {
    const { address, asked } = await startUsual(t)
    const resolve = createResolver({ nameservers: [address], hostsFile: '/no/such/file' })
    for (const name of ['localhost', 'app.localhost']) {
      assert.deepEqual(
        (await resolve(name)).map((found) => found.address),
        ['127.0.0.1', '::1'],
      )
    }
    assert.deepEqual(asked, [])
  })
})
