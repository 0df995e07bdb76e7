import assert from 'node:assert/strict'
import { it } from 'node:test'
import { answerCall } from '../../host/sandbox/dispatch/answer-call.ts'
import type { LiveDispatch } from '../../host/sandbox/dispatch/live-dispatches.ts'

const event = { id: 'evt_1', type: 'told' }
const limits = { calls: 1, callsAtOnce: 1, fetches: 1 }

for (const [caller, context, answeredMs, expected] of [
  ['the handler of an event', { event }, undefined, true],
  ['work after the answer to an event', { event }, 5, false],
  ['a visitor', {}, undefined, false],
] as const) {
  it(`a call of ${caller} ${expected ? 'belongs' : 'does not belong'} to an event that is not done`, async () => {
    const live = { queued: { context }, answeredMs, calls: 0, egressCalls: 0 } as unknown as LiveDispatch
    let isOwed: boolean | undefined
    await answerCall(
      live,
      { id: 1, name: 'delivery', args: {}, body: new Uint8Array() },
      {
        limits,
        async runCall(call) {
          isOwed = call.isOwed
          return { ok: true, value: {} }
        },
        onLimit: () => assert.fail('it is within its limits'),
        settle: () => {},
      },
    )
    assert.equal(isOwed, expected)
  })
}
