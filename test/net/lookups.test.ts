import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createLookups } from '../../host/net/guard/lookups.ts'

const addresses: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }]
const slowMs = 20

/** Lookups that end when they are told to, and the names that were asked for so far. */
function scripted(options: { atOnce?: number; remembered?: number } = {}) {
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
  const resolveFirst = async (hostname: string, isSlow = false): Promise<void> => {
    const lookup = resolve(hostname)
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
