// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGroupCommit } from '../../host/db/group-commit.ts'
import { endClaims } from '../../host/db/queries/claims.ts'
import { insertJobs, mostInterruptions } from '../../host/db/queries/jobs.ts'
import { type JobOutcome, stored } from '../../host/queue/job-handler.ts'
import { until } from '../support/annex.ts'
import { hurriedClock } from '../support/hurried-clock.ts'
import { gone, numberOf, openQueue, type Queue } from './support.ts'

const later = (clock: Queue['clock'], ms: number, reason = 'not yet'): JobOutcome => ({
  move: { state: 'due', dueAtMs: clock.now() + ms, reason },
})

/** A run that ends when `end` is called. */
function holding(): { run: () => Promise<JobOutcome>; begun: () => number; end: () => void } {
  const { promise, resolve: end } = Promise.withResolvers<void>()
  let begun = 0
  const run = async () => {
    begun += 1
    await promise
    return gone
  }
  return { run, begun: () => begun, end }
}

const cases: Record<string, (queue: Queue) => Promise<void>> = {
  async 'does each job once, with any number of wakes'(queue) {
    await queue.insert('a', 60)
    const seen: string[] = []
    const worker = await queue.work(async ({ id }) => {
      seen.push(id)
      return gone
    })
    for (let n = 0; n < 20; n += 1) worker.wake()
    await queue.drained()
    assert.deepEqual([seen.length, new Set(seen).size], [60, 60])
  },

  async 'finds a job that is stored while it is idle'(queue) {
    const seen: number[] = []
    const worker = await queue.work(async (job) => {
      seen.push(numberOf(job))
      return gone
    })
    await sleep(50)
    await queue.insert('a', 3)
    worker.wake()
    await queue.drained()
    assert.deepEqual(
      seen.toSorted((one, other) => one - other),
      [0, 1, 2],
    )
  },

  async 'does a job when it is due, and not before'(queue) {
    const dueAt = queue.clock.now() + 300
    await queue.insert('a', 1, { dueAt })
    let at = 0
    await queue.work(async () => {
      at = queue.clock.now()
      return gone
    })
    await queue.drained()
    assert.ok(at >= dueAt, `${dueAt - at} ms too early`)
  },

  async 'tries a job again at its next due time, and counts its attempts'(queue) {
    await queue.insert('a', 1)
    const attempts: number[] = []
    const at: number[] = []
    await queue.work(async ({ attempt }) => {
      attempts.push(attempt)
      at.push(queue.clock.now())
      return attempts.length < 3 ? later(queue.clock, 150) : gone
    })
    await queue.drained()
    assert.deepEqual(attempts, [1, 2, 3])
    assert.ok((at[1] ?? 0) - (at[0] ?? 0) >= 150 && (at[2] ?? 0) - (at[1] ?? 0) >= 150, `${at}`)
  },

  async 'limits the jobs of a lane in flight'(queue) {
    await queue.insert('slow', 100)
    await queue.insert('quick', 5)
    const slow = holding()
    let quick = 0
    await queue.work(
      async ({ lane }) => {
        if (lane === 'slow') return slow.run()
        quick += 1
        return gone
      },
      { lanes: { most: 4, first: 4 } },
    )
    await until(
      async () => quick,
      (count) => count === 5,
    )
    assert.equal(slow.begun(), 4)
    slow.end()
  },

  async 'claims no more jobs while its maximum of runs waits for a turn'(queue) {
    for (let n = 0; n < 20; n += 1) await queue.insert(`lane ${n}`, 1)
    const turns: (() => void)[] = []
    const ends: (() => void)[] = []
    await queue.work(
      async (_job, onBegin) => {
        turns.push(onBegin)
        const { promise, resolve } = Promise.withResolvers<void>()
        ends.push(resolve)
        await promise
        return gone
      },
      { waiting: 4 },
    )
    const has = (count: number) =>
      until(
        async () => turns.length,
        (found) => found === count,
      )
    await has(4)
    await sleep(100)
    assert.equal(turns.length, 4)
    // The next ones come together: one claim for each would cost a transaction each.
    turns[0]?.()
    turns[0]?.()
    await sleep(100)
    assert.equal(turns.length, 4)
    turns[1]?.()
    await has(6)
    // A run that never waits ends its wait with itself.
    for (const end of ends) end()
    await has(10)
    await until(queue.jobs, (jobs) => {
      for (const end of ends) end()
      return jobs.length === 0
    })
    assert.equal(turns.length, 20)
  },

  async 'counts no attempt and no interruption for a run that has not begun'(queue) {
    await queue.insert('a', 1)
    const seen: unknown[] = []
    await queue.work(async ({ attempt, interruptions }) => {
      seen.push([attempt, interruptions])
      const dueAtMs = queue.clock.now()
      if (seen.length === 8) return gone
      const run = seen.length < 7 ? ('not begun' as const) : ('interrupted' as const)
      return { move: { state: 'due', dueAtMs, reason: 'no turn', run } }
    })
    await queue.drained()
    assert.deepEqual(seen, [...Array.from({ length: 7 }, () => [1, 0]), [1, 1]])
  },

  async 'keeps a quarter of the free capacity for other owners'(queue) {
    for (let n = 0; n < 20; n += 1) await queue.insert(`slow ${n}`, 10, { owner: 'one' })
    const slow = holding()
    let quick = 0
    const worker = await queue.work(
      async ({ owner }) => {
        if (owner === 'one') return slow.run()
        quick += 1
        return gone
      },
      { concurrency: 32 },
    )
    await until(
      async () => slow.begun(),
      (count) => count >= 24,
    )
    await queue.insert('quick', 30, { owner: 'two' })
    worker.wake()
    await until(
      async () => quick,
      (count) => count === 30,
    )
    assert.equal(slow.begun(), 24)
    slow.end()
  },

  async 'counts a large job as several'(queue) {
    await queue.insert('a', 40, { textSize: 7 * 65_536 })
    const large = holding()
    await queue.work(large.run, { concurrency: 64, lanes: { most: 64, first: 64 } })
    await until(
      async () => large.begun(),
      (count) => count >= 6,
    )
    await sleep(100)
    assert.equal(large.begun(), 6)
    large.end()
  },

  async 'limits all jobs in flight, including outcomes that are not stored yet'(queue) {
    await queue.insert('a', 100)
    await queue.insert('b', 100, { owner: 'b' })
    const commits = createGroupCommit(queue.db)
    const { promise: isThere, resolve: bringBack } = Promise.withResolvers<void>()
    let begun = 0
    await queue.work(
      async () => {
        begun += 1
        return gone
      },
      {
        concurrency: 16,
        lanes: { most: 16, first: 16 },
        commits: {
          ...commits,
          async store(step, item) {
            if (item !== undefined) await isThere
            return commits.store(step, item)
          },
        },
      },
    )
    await until(
      async () => begun,
      (count) => count >= 12,
    )
    await sleep(200)
    assert.ok(begun <= 16, `${begun}`)
    bringBack()
    await queue.drained()
    assert.equal(begun, 200)
  },

  async 'takes lanes in turn'(queue) {
    for (const lane of ['a', 'b', 'c']) await queue.insert(lane, 40)
    const seen: string[] = []
    await queue.work(async ({ lane }) => {
      seen.push(lane)
      return gone
    })
    await queue.drained()
    for (const lane of ['a', 'b', 'c']) {
      const count = seen.slice(0, 48).filter((name) => name === lane).length
      assert.ok(count >= 8, `${lane}: ${count} of the first 48`)
    }
  },

  async 'takes owners in turn, with any number of lanes'(queue) {
    for (let n = 0; n < 30; n += 1) await queue.insert(`many ${n}`, 4, { owner: 'many' })
    await queue.insert('single', 20, { owner: 'single' })
    const seen: string[] = []
    await queue.work(
      async ({ owner }) => {
        seen.push(owner)
        return gone
      },
      { concurrency: 4 },
    )
    await queue.drained()
    const count = seen.slice(0, 60).filter((owner) => owner === 'single').length
    assert.ok(count >= 15, `${count} of the first 60`)
  },

  async 'finds a due job beside thousands of lanes without one'(queue) {
    const dueAt = queue.clock.now() + 86_400_000
    for (let n = 0; n < 3_500; n += 500) {
      const lanes = Array.from({ length: 500 }, (_, index) => `later ${n + index}`)
      await insertJobs(
        queue.db,
        lanes.map((lane) => ({ kind: 'task' as const, subject: {}, lane, dueAt })),
      )
    }
    const done: string[] = []
    const worker = await queue.work(async ({ lane }) => {
      done.push(lane)
      return gone
    })
    for (const lane of ['zzz', 'aaa']) {
      await queue.insert(lane, 1)
      worker.wake()
      await until(
        async () => done,
        (lanes) => lanes.includes(lane),
      )
    }
    assert.deepEqual(done, ['zzz', 'aaa'])
  },

  async 'does the jobs of an ordered lane one after the other, also during retries'(queue) {
    await queue.insert('a', 6, { ordered: true })
    const seen: number[] = []
    let failures = 0
    await queue.work(async (job) => {
      if (numberOf(job) === 2 && failures++ < 2) return later(queue.clock, 50)
      seen.push(numberOf(job))
      return gone
    })
    await queue.drained()
    assert.deepEqual(seen, [0, 1, 2, 3, 4, 5])
  },

  async 'takes a due retry before the first attempts of its lane'(queue) {
    const [retry] = await queue.insert('a', 1)
    await queue.db('jobs').where({ id: retry?.id }).update({ attempt: 1 })
    await queue.insert('a', 50, { dueAt: queue.clock.now() - 1_000 })
    const seen: string[] = []
    await queue.work(
      async ({ id }) => {
        seen.push(id)
        return gone
      },
      { lanes: { most: 1, first: 1 } },
    )
    await queue.drained()
    assert.equal(seen[0], retry?.id)
  },

  async 'holds back first attempts behind an open circuit, but not retries'(queue) {
    await queue.insert('a', 40)
    const attempts = new Map<string, number[]>()
    await queue.work(
      async ({ id, attempt }) => {
        attempts.set(id, [...(attempts.get(id) ?? []), attempt])
        const outcome = attempt < 4 ? later(queue.clock, 50) : gone
        return { ...outcome, health: 'bad' }
      },
      { lanes: { most: 4, first: 4, circuit: { failures: 4, firstMs: 60_000, longestMs: 60_000 } } },
    )
    await until(
      async () => [...attempts.values()].filter((all) => all.length === 4).length,
      (count) => count === attempts.size && count >= 4,
    )
    assert.ok(attempts.size <= 7, `${attempts.size} jobs have begun`)
    const left = (await queue.jobs()).filter(({ attempt }) => attempt === 0)
    assert.equal(left.length, 40 - attempts.size)
  },

  async 'closes an open circuit after a successful probe'(queue) {
    await queue.insert('a', 30)
    let runs = 0
    await queue.work(
      async () => {
        runs += 1
        return { ...gone, health: runs <= 4 ? 'bad' : 'good' }
      },
      { lanes: { most: 4, first: 4, circuit: { failures: 4, firstMs: 200, longestMs: 200 } } },
    )
    await queue.drained()
    assert.equal(runs, 30)
  },

  async 'does the jobs of a killed run of this host at its start, and reports them'(queue) {
    await queue.insert('a', 1)
    const left = { state: 'running', leaseId: 'of a killed run', hostId: 'host_1' }
    await queue.db('jobs').update({ ...left, leaseUntil: queue.clock.now() + 30_000 })
    const cut: string[] = []
    await queue.work(async () => gone, {
      interrupt: async (_transaction, jobs) => void cut.push(...jobs.map(({ lane }) => lane)),
    })
    await queue.drained()
    assert.deepEqual(cut, ['a'])
  },

  async 'repeats a job whose lease has lapsed, and drops the late outcome'(queue) {
    await queue.insert('a', 1)
    const stores: string[] = []
    const note = async (_transaction: unknown, items: readonly string[]) => {
      stores.push(...items)
      return []
    }
    const late = holding()
    const stalled = await queue.work(async () => {
      await late.run()
      return { ...gone, stores: [stored(note, 'late')] }
    })
    await until(queue.jobs, ([job]) => job?.state === 'running')
    await queue.db('jobs').update({ leaseId: 'of another host', leaseUntil: queue.clock.now() - 1 })
    const clock = (own: Queue['clock']) => hurriedClock(own, 40)
    await queue.work(async () => ({ ...gone, stores: [stored(note, 'other')] }), { hostId: 'host_2', clock })
    await queue.drained()
    late.end()
    await stalled.close()
    assert.deepEqual(stores, ['other'])
  },

  async 'keeps the claim of a job that runs for longer than a lease'(queue) {
    await queue.insert('a', 1)
    const slow = holding()
    const clock = (own: Queue['clock']) => hurriedClock(own, 40)
    await queue.work(slow.run, { clock })
    // Three leases by a clock that hurries.
    await sleep(2_250)
    assert.equal(slow.begun(), 1)
    slow.end()
    await queue.drained()
    assert.equal(slow.begun(), 1)
  },

  async 'counts no run that the end of its host interrupts, up to five times'(queue) {
    await queue.insert('a', 1)
    for (let deaths = 1; deaths <= mostInterruptions + 2; deaths += 1) {
      const running = { state: 'running', hostId: 'host_0', leaseId: `${deaths}` }
      await queue.db('jobs').update({ ...running, attempt: queue.db.raw('attempt + 1') })
      await endClaims(queue.db, ['task'], { hostId: 'host_0' })
    }
    const [job] = await queue.jobs()
    assert.deepEqual([job?.attempt, job?.interruptions], [2, mostInterruptions + 2])
  },

  async 'stores the outcome and its job in one transaction'(queue) {
    await queue.insert('a', 1)
    const refuse = async () => {
      throw Object.assign(new Error('refused'), { code: 'SQLITE_CONSTRAINT' })
    }
    const clock = (own: Queue['clock']) => hurriedClock(own, 40)
    let runs = 0
    await queue.work(
      async () => {
        runs += 1
        return { ...gone, stores: [stored(refuse, 'x')] }
      },
      { clock },
    )
    const [job] = await until(queue.jobs, ([row]) => row?.lastError != null)
    assert.match(job?.lastError ?? '', /refused/)
    assert.ok(runs >= 1)
  },

  async 'keeps a job whose handler throws, and makes it due later'(queue) {
    await queue.insert('a', 1)
    const said: unknown[] = []
    const fail = async () => {
      throw new TypeError('a mistake of ours')
    }
    await queue.work(fail, { onDefect: (error) => void said.push(error) })
    const [job] = await until(queue.jobs, ([row]) => row?.lastError != null)
    assert.deepEqual([job?.state, job?.lastError, said.length], ['due', 'a mistake of ours', 1])
    assert.ok((job?.dueAt ?? 0) > queue.clock.now() + 30_000)
  },

  async 'claims no more jobs when it closes, and gives back its claims'(queue) {
    await queue.insert('a', 40)
    let started = 0
    const { promise: end, resolve: letEnd } = Promise.withResolvers<void>()
    const worker = await queue.work(async () => {
      started += 1
      await end
      return gone
    })
    await until(
      async () => started,
      (count) => count === 8,
    )
    const closed = worker.close()
    letEnd()
    await closed
    assert.equal(started, 8)
    assert.ok((await queue.jobs()).every(({ state }: { state: string }) => state === 'due'))
  },
}

describe('the queue', () => {
  for (const [name, run] of Object.entries(cases)) {
    it(name, async () => {
      const queue = await openQueue()
      try {
        await run(queue)
      } finally {
        await queue.close()
      }
    })
  }
})
