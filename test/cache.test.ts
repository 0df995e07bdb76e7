import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { cacheReads } from '../host/cache.ts'

/** Counts its reads. A read answers when the test says so, or at once. */
function createReads(answer: (name: string) => Promise<string | undefined>) {
  const reads: string[] = []
  const cache = cacheReads({
    keyOf: String,
    read(name: string) {
      reads.push(name)
      return answer(name)
    },
    cachesError: (error) => error instanceof RangeError,
  })
  return { ...cache, reads }
}

test('simultaneous reads share one query, and a record is read again after a second', async () => {
  let nowMs = 1_000
  const clock = mock.method(performance, 'now', () => nowMs)
  try {
    const { get, reads } = createReads(async (name) => `${name} ${reads.length}`)
    assert.deepEqual(await Promise.all([get('a'), get('a'), get('b')]), ['a 1', 'a 1', 'b 2'])
    nowMs += 999
    assert.equal(await get('a'), 'a 1')
    nowMs += 2
    assert.equal(await get('a'), 'a 3')
    // A hit does not prolong the second.
    nowMs += 600
    await get('a')
    nowMs += 600
    assert.equal(await get('a'), 'a 4')
  } finally {
    clock.mock.restore()
  }
})

test('a missing record and a failure are read again, and a cacheable error is not', async () => {
  const answers: Record<string, () => Promise<undefined>> = {
    missing: async () => undefined,
    failed: () => Promise.reject(new Error('away')),
    refused: () => Promise.reject(new RangeError('suspended')),
  }
  const { get, reads } = createReads((name) => answers[name]?.() ?? Promise.resolve(''))
  for (const name of ['missing', 'missing', 'failed', 'failed', 'refused', 'refused']) {
    await get(name).catch(() => undefined)
  }
  assert.deepEqual(reads, ['missing', 'missing', 'failed', 'failed', 'refused'])
})

test('a read that began before a change is not cached', async () => {
  const waiting: ((value: string) => void)[] = []
  const { get, forget, reads } = createReads(
    () => new Promise((resolve) => waiting.push((value) => resolve(value))),
  )
  const before = get('a')
  forget()
  const after = get('a')
  waiting[1]?.('new')
  waiting[0]?.('old')
  assert.deepEqual([await before, await after, await get('a')], ['old', 'new', 'new'])
  assert.equal(reads.length, 2)
})

test('a failed read that began before a change does not remove the newer record', async () => {
  const waiting: PromiseWithResolvers<string>[] = []
  const { get, forget, reads } = createReads(() => {
    const asked = Promise.withResolvers<string>()
    waiting.push(asked)
    return asked.promise
  })
  const before = get('a')
  forget()
  const after = get('a')
  waiting[1]?.resolve('new')
  waiting[0]?.reject(new Error('away'))
  await assert.rejects(before, /away/)
  assert.deepEqual([await after, await get('a'), reads.length], ['new', 'new', 2])
})

test('many other records do not evict a record in use', async () => {
  const clock = mock.method(performance, 'now', () => 1_000)
  try {
    const { get, reads } = createReads(async (name) => name)
    for (let index = 0; index < 25_000; index += 1) {
      await get(`guess ${index}`)
      if (index % 1_000 === 0) await get('in use')
    }
    assert.equal(reads.filter((name) => name === 'in use').length, 1)
    await get('guess 0')
    assert.equal(reads.filter((name) => name === 'guess 0').length, 2, 'the cache has a limit')
  } finally {
    clock.mock.restore()
  }
})
