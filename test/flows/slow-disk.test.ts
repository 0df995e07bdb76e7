// tier: wall (a disk that takes ten seconds for each sync)

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { noCompiler } from '../support/compile-library.ts'
import { startOnFaultyMachine } from '../support/host-under-faults.ts'

describe('a disk with ten seconds for each sync', { skip: noCompiler }, () => {
  it('delays writes, but no visitor of an endpoint', { timeout: 120_000 }, async () => {
    await using running = await startOnFaultyMachine({})
    const { faults, listening, publish, untilDelivered } = running
    const endpoint = `${listening.url}/x/fan-out`
    await visit(endpoint)
    faults.setSync(10_000)
    const events = ['evt_slow_1', 'evt_slow_2', 'evt_slow_3']
    const started = performance.now()
    const published = Promise.all(events.map((eventId) => publish(eventId)))
    const tookMs: number[] = []
    for (let visits = 0; visits < 40; visits++) {
      tookMs.push(await visit(endpoint))
      await sleep(25)
    }
    for (const { status, text } of await published) assert.equal(status, 202, text)
    assert.ok(performance.now() - started > 10_000, 'the disk was slow')
    assert.ok(Math.max(...tookMs) < 5_000, `a visitor waited for ${Math.round(Math.max(...tookMs))} ms`)
    faults.setSync(0)
    await untilDelivered(events)
  })
})

describe('a disk that fails at a sync', { skip: noCompiler }, () => {
  it('ends all writes until the next start, and loses no acknowledged event', {
    timeout: 120_000,
  }, async () => {
    await using running = await startOnFaultyMachine({})
    const { faults, listening, publish, receiver } = running
    assert.equal((await publish('evt_before')).status, 202)
    await receiver.waitFor(1)
    faults.setSync('fails')
    const first = await publish('evt_first')
    // The second where something else was to be stored before it.
    const refusals = ['503 storage_unsure', '507 storage_full']
    assert.ok(refusals.includes(`${first.status} ${first.json.error?.code}`), first.text)
    // What the system has not written it may have forgotten: a sync that succeeds now would prove nothing.
    faults.setSync(0)
    const refused = await publish('evt_after')
    assert.deepEqual([refused.status, refused.json.error?.code], [507, 'storage_full'], refused.text)
    assert.match(refused.json.error.message, /start Annex again/)
    assert.equal((await listening.api('GET', '/v1/deliveries')).status, 200, 'reading goes on')
    assert.equal((await listening.api('GET', '/readyz')).status, 503)
    await running.restart()
    assert.equal((await running.publish('evt_before')).json.duplicate, true)
    assert.equal((await running.publish('evt_after')).status, 202)
    await running.untilDelivered(['evt_before', 'evt_after'])
  })
})

async function visit(url: string): Promise<number> {
  const startedAt = performance.now()
  await (await fetch(url)).text()
  return performance.now() - startedAt
}
