// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from '../../host/db/queries/jobs.ts'
import { until } from '../support/annex.ts'
import { noPostgres } from '../support/test-database.ts'
import { gone, numberOf, openQueue, type Queue } from './support.ts'

const hostIds = ['host_1', 'host_2', 'host_3']

const cases: Record<string, (queue: Queue) => Promise<void>> = {
  async 'do each job once, and share the jobs'(queue) {
    for (const lane of ['a', 'b', 'c', 'd', 'e', 'f']) await queue.insert(lane, 100)
    const begun: string[] = []
    const busy = new Set<string>()
    const { promise: eachHasOne, resolve } = Promise.withResolvers<void>()
    const runOn = (hostId: string) => async (job: Job) => {
      begun.push(job.id)
      busy.add(hostId)
      if (busy.size === hostIds.length) resolve()
      await eachHasOne
      return gone
    }
    await Promise.all(hostIds.map((hostId) => queue.work(runOn(hostId), { hostId })))
    await queue.drained()
    assert.deepEqual([begun.length, new Set(begun).size], [600, 600])
  },

  async 'keep the order of an ordered lane across hosts'(queue) {
    await queue.insert('a', 40, { ordered: true })
    const seen: number[] = []
    let running = 0
    const run = async (job: Job) => {
      running += 1
      assert.equal(running, 1)
      seen.push(numberOf(job))
      await sleep(2)
      running -= 1
      return gone
    }
    await Promise.all(hostIds.map((hostId) => queue.work(run, { hostId })))
    await queue.drained()
    assert.deepEqual(
      seen,
      Array.from({ length: 40 }, (_, n) => n),
    )
  },

  async 'leave the claims of the other hosts alone when they start'(queue) {
    await queue.insert('a', 4)
    const { promise, resolve: end } = Promise.withResolvers<void>()
    const begun: string[] = []
    const runOn = (hostId: string) => async () => {
      begun.push(hostId)
      await promise
      return gone
    }
    await queue.work(runOn('host_1'), { hostId: 'host_1' })
    await until(queue.jobs, (jobs) => jobs.every(({ state }) => state === 'running'))
    const other = await queue.work(runOn('host_2'), { hostId: 'host_2' })
    for (let wakes = 0; wakes < 10; wakes += 1) {
      other.wake()
      await sleep(20)
    }
    end()
    await queue.drained()
    assert.deepEqual(begun, Array(4).fill('host_1'))
  },

  async 'give back their jobs when they end, and another host does these'(queue) {
    await queue.insert('a', 40)
    let done = 0
    const run = async () => {
      await sleep(20)
      done += 1
      return gone
    }
    const leaving = await queue.work(run, { lanes: { most: 2, first: 2 } })
    await until(
      async () => done,
      (count) => count >= 2,
    )
    await leaving.close()
    assert.ok((await queue.jobs()).every(({ state }) => state === 'due'))
    await queue.work(run, { hostId: 'host_2' })
    await queue.drained()
    assert.equal(done, 40)
  },
}

describe('hosts on one PostgreSQL', { skip: noPostgres }, () => {
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
