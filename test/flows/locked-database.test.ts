import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startHostUnderFaults } from '../support/host-under-faults.ts'
import { lockDatabase } from '../support/lock-database.ts'

describe('a database that another process has locked', () => {
  for (const seconds of [2, 12]) {
    it(`for ${seconds} s: events wait or are refused, none is lost, and work continues`, {
      timeout: 180_000,
    }, async () => {
      await using running = await startHostUnderFaults(
        () => ({}),
        // In flight when the lock is taken: their settlement has to wait too.
        (response) => setTimeout(() => response.writeHead(200).end('{}'), 400),
      )
      const { publish, receiver, listening, untilDelivered, dataDir } = running
      const acknowledged: string[] = []
      const take = async (eventId: string) => {
        const { status, json, text } = await publish(eventId)
        if (status === 202) acknowledged.push(eventId)
        else assert.deepEqual([status, json?.error?.code], [503, 'storage_busy'], text)
        return status
      }
      for (const number of [1, 2, 3]) assert.equal(await take(`evt_before_${number}`), 202)
      await receiver.waitFor(1)
      const release = await lockDatabase(join(dataDir, 'annex.sqlite'))
      const waiting = Promise.all([1, 2, 3].map((number) => take(`evt_locked_${number}`)))
      await sleep(seconds * 1_000)
      await release()
      const statuses = await waiting
      // A lock that is shorter than the wait for it, 5 s, is only waited for.
      if (seconds < 5) assert.deepEqual(statuses, [202, 202, 202])
      assert.equal(await take('evt_after'), 202)
      await untilDelivered(acknowledged)
      assert.equal((await listening.api('GET', '/v1/deliveries?state=failed')).json.count, 0)
    })
  }
})
