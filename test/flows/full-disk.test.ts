// tier: wall (full disks)

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/annex.ts'
import { noCompiler } from '../support/compile-library.ts'
import {
  type HostUnderFaults,
  startHostUnderFaults,
  startOnFaultyMachine,
} from '../support/host-under-faults.ts'
import { noPrlimit } from '../support/small-disks.ts'

describe('a full disk', () => {
  it('refuses events with an error, loses no accepted one, and recovers', {
    skip: noCompiler,
    timeout: 180_000,
  }, async () => {
    await using running = await startOnFaultyMachine({}, slowly)
    await checkFullDisk(running, running.faults.setDiskFull)
  })

  it('has the same effects if a limit of file sizes causes it', {
    skip: noPrlimit,
    timeout: 180_000,
  }, async () => {
    await using running = await startHostUnderFaults(() => ({}), slowly)
    const pid = String(running.host.child.pid)
    await checkFullDisk(running, (isFull) => {
      execFileSync('prlimit', ['--pid', pid, `--fsize=${isFull ? 1 : 'unlimited'}:unlimited`])
    })
  })
})

/** So that some attempts are in flight when the disk fills up, and cannot be settled. */
function slowly(response: { writeHead: (status: number) => { end: (text: string) => void } }): void {
  setTimeout(() => response.writeHead(200).end('{}'), 400)
}

async function checkFullDisk(
  { listening, host, receiver, publish, untilDelivered }: HostUnderFaults,
  setFull: (isFull: boolean) => void,
): Promise<void> {
  const acknowledged: string[] = []
  const take = async (eventId: string) => {
    const answer = await publish(eventId)
    if (answer.status === 202) acknowledged.push(eventId)
    return answer
  }
  for (const number of [1, 2, 3]) assert.equal((await take(`evt_before_${number}`)).status, 202)
  await receiver.waitFor(1)
  const readyz = () => listening.api('GET', '/readyz')
  assert.equal((await readyz()).status, 200)
  assert.match((await listening.api('GET', '/metrics')).text, /^annex_storage_writable 1$/m)
  setFull(true)
  const refused = await Promise.all([1, 2, 3].map((number) => take(`evt_full_${number}`)))
  for (const { status, json, text } of refused) {
    assert.deepEqual([status, json.error?.code], [507, 'storage_full'], text)
    assert.ok(json.error.requestId)
  }
  assert.equal((await listening.api('GET', '/v1/deliveries')).status, 200, 'reading needs no room')
  const red = await until(readyz, ({ status }) => status === 503)
  assert.match(red.json.error.message, /storage: the disk of the database is full \(storage_full\)/)
  assert.match((await listening.api('GET', '/metrics')).text, /^annex_storage_writable 0$/m)
  await sleep(1_500)
  assert.equal(host.child.exitCode, null, 'the host goes on')
  setFull(false)
  await until(
    () => take('evt_after'),
    ({ status }) => status < 300,
  )
  await until(readyz, ({ status }) => status === 200)
  await untilDelivered([...acknowledged, 'evt_after'])
}
