import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Resolve } from '../../host/net/guard/guarded-connect.ts'
import { createLookups } from '../../host/net/guard/lookups.ts'

const addresses: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }]

/** Lookups that end when they are told to, and the names that were asked for so far. */
function scripted({ slowMs = 20, ...options }: NonNullable<Parameters<typeof createLookups>[1]> = {}) {
  const asked: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const resolve = createLookups(
    (hostname) =>
      new Promise((settle, reject) => {
        asked.push(hostname)
        ends.set(hostname, (error) => (error === undefined ? settle(addresses) : reject(error)))
      }),
    { slowMs, ...options },
  )
  const end = async (hostname: string, error?: Error): Promise<void> => {
    ends.get(hostname)?.(error)
    await setTimeout(0)
  }
  /** Resolves a name at once, or slowly. */
  const resolveFirst = async (hostname: string, isSlow = false, asker?: string): Promise<void> => {
    const lookup = resolve(hostname, asker)
    if (isSlow) await setTimeout(slowMs + 5)
    await end(hostname)
    await lookup
  }
  return { resolve, asked, end, resolveFirst }
}

describe('lookups of names', () => {
  it('are one for all who ask at the same time, and a new one for those who come later', async () => {
    const { resolve, asked, end } = scripted()
    const both = [resolve('one.test'), resolve('one.test')]
    await end('one.test')
    assert.deepEqual(await Promise.all(both), [addresses, addresses])
    assert.deepEqual(asked, ['one.test'])
    const later = resolve('one.test')
    await end('one.test')
    await later
    assert.deepEqual(asked, ['one.test', 'one.test'])
  })

  it('leave names that were prompt a thread, whatever else hangs', async () => {
    const { resolve, asked, end, resolveFirst } = scripted()
    await resolveFirst('good.test')
    for (const name of ['dead-1.test', 'dead-2.test', 'dead-3.test']) resolve(name)
    assert.deepEqual(asked, ['good.test', 'dead-1.test'])
    const good = resolve('good.test')
    assert.deepEqual(asked.at(-1), 'good.test')
    await end('good.test')
    assert.deepEqual(await good, addresses)
    assert.equal(asked.length, 3, 'the thread stays free')
  })

  it('give new names their turn before those that were slow', async () => {
    const { resolve, asked, end, resolveFirst } = scripted()
    await resolveFirst('slow.test', true)
    resolve('hanging.test')
    resolve('slow.test')
    resolve('new.test')
    await end('hanging.test')
    assert.deepEqual(asked, ['slow.test', 'hanging.test', 'new.test'])
    await end('new.test')
    assert.equal(asked.at(-1), 'slow.test')
  })

  it('take a name that failed at once for prompt: it holds up nobody', async () => {
    const { resolve, asked, end } = scripted()
    const failing = assert.rejects(resolve('none.test'), { code: 'ENOTFOUND' })
    await end('none.test', Object.assign(new Error('none'), { code: 'ENOTFOUND' }))
    await failing
    resolve('hanging.test')
    resolve('none.test').catch(() => {})
    assert.equal(asked.at(-1), 'none.test')
  })

  it('of more prompt names than there are threads wait for each other', async () => {
    const { resolve, asked, end, resolveFirst } = scripted()
    const names = ['a.test', 'b.test', 'c.test']
    for (const name of names) await resolveFirst(name)
    const all = names.map((name) => resolve(name))
    assert.equal(asked.length, 5)
    for (const name of names) await end(name)
    assert.equal((await Promise.all(all)).length, 3)
  })

  it('remember a bounded number of names', async () => {
    const { resolve, asked, resolveFirst } = scripted({ remembered: 1 })
    await resolveFirst('first.test')
    await resolveFirst('second.test')
    resolve('hanging.test')
    resolve('first.test')
    assert.equal(asked.at(-1), 'hanging.test', 'the first is new again, and waits')
    resolve('second.test')
    assert.equal(asked.at(-1), 'second.test')
  })
})

describe('askers of lookups', () => {
  const names = (of: string, count: number) => Array.from({ length: count }, (_, n) => `${n}.${of}.test`)
  const askAll = (resolve: Resolve, asker: string, all: readonly string[]) =>
    all.map((name) => resolve(name, asker))

  it('have their turns by the time that their names took: a thousand silent ones hold up one’s own', async () => {
    const { resolve, asked, end } = scripted()
    askAll(resolve, 'hostile', names('silent', 1_000))
    const others = askAll(resolve, 'honest', names('good', 3))
    assert.deepEqual(asked, ['0.silent.test'])
    await setTimeout(500)
    await end('0.silent.test')
    for (const name of names('good', 3)) await end(name)
    assert.deepEqual(await Promise.all(others), [addresses, addresses, addresses])
    assert.deepEqual(asked, ['0.silent.test', ...names('good', 3), '1.silent.test'])
  })

  it('whose names were prompt and then are silent take no second time what is kept for prompt ones', async () => {
    const { resolve, asked, end, resolveFirst } = scripted({ slowMs: 250 })
    await resolveFirst('good.test', false, 'honest')
    for (const name of names('primed', 10)) await resolveFirst(name, false, 'hostile')
    asked.length = 0
    const primed = askAll(resolve, 'hostile', names('primed', 10))
    const good = resolve('good.test', 'honest')
    assert.deepEqual(asked, ['0.primed.test', '1.primed.test'])
    await setTimeout(300)
    await end('0.primed.test')
    assert.equal(asked.at(-1), 'good.test')
    await end('1.primed.test')
    await end('good.test')
    assert.deepEqual(await good, addresses)
    assert.deepEqual(asked, ['0.primed.test', '1.primed.test', 'good.test', '2.primed.test'])
    await resolveFirst('good.test', false, 'honest')
    for (const name of names('primed', 10).slice(2)) await end(name)
    await Promise.all(primed)
  })

  it('are believed again after a while', async () => {
    const { resolve, asked, end, resolveFirst } = scripted({ slowMs: 250, distrustMs: 1 })
    for (const name of ['a.test', 'b.test']) await resolveFirst(name)
    await resolveFirst('a.test', true)
    resolve('hanging.test')
    resolve('b.test')
    assert.equal(asked.at(-1), 'b.test')
    await end('b.test')
  })

  it('wait for a name of another’s in their own turn', async () => {
    const { resolve, asked, end } = scripted()
    askAll(resolve, 'hostile', [...names('silent', 1_000), 'good.test'])
    const good = resolve('good.test', 'honest')
    await setTimeout(100)
    await end('0.silent.test')
    await end('good.test')
    assert.deepEqual(await good, addresses)
    assert.deepEqual(asked, ['0.silent.test', 'good.test', '1.silent.test'])
  })

  it('who have left are looked nothing up for', async () => {
    const { resolve, asked, end } = scripted({ patienceMs: 1_000 })
    resolve('hanging.test')
    const left = names('left', 3).map((name) => assert.rejects(resolve(name), { code: 'EAI_AGAIN' }))
    await setTimeout(1_100)
    resolve('wanted.test')
    await end('hanging.test')
    await Promise.all(left)
    assert.deepEqual(asked, ['hanging.test', 'wanted.test'])
    resolve('0.left.test')
    await end('wanted.test')
    assert.equal(asked.at(-1), '0.left.test')
  })
})
