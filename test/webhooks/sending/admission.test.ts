import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAdmission } from '../../../host/webhooks/sending/admission.ts'

/** Attempts that end when they are told to. */
function createAttempts(t: TestContext, inAll: number, perEndpoint: number) {
  const admit = createAdmission({ inAll, perEndpoint })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const end = async (name: string) => {
    ends.get(name)?.()
    await sleep(0)
  }
  t.after(() => {
    for (const endOne of ends.values()) endOne()
  })
  return {
    begun,
    end,
    ask: (...names: string[]) => {
      for (const name of names) {
        admit(name.slice(0, 1), () => {
          begun.push(name)
          return new Promise((resolve) => ends.set(name, resolve))
        })
      }
    },
  }
}

describe('attempts that are sent at once', () => {
  it('are as many as may be, and the others come when one has ended', async (t) => {
    const { ask, begun, end } = createAttempts(t, 2, 2)
    ask('a1', 'b1', 'c1')
    assert.deepEqual(begun, ['a1', 'b1'])
    await end('a1')
    assert.deepEqual(begun, ['a1', 'b1', 'c1'])
  })

  it('are no more to one endpoint than its share: others go by', async (t) => {
    const { ask, begun, end } = createAttempts(t, 4, 1)
    ask('a1', 'a2', 'a3', 'b1')
    assert.deepEqual(begun, ['a1', 'b1'])
    await end('a1')
    assert.deepEqual(begun, ['a1', 'b1', 'a2'])
  })

  it('take turns by endpoints', async (t) => {
    const { ask, begun, end } = createAttempts(t, 1, 1)
    ask('a1', 'a2', 'a3', 'b1', 'b2')
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) await end(name)
    assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'b2'])
  })

  it('are more when those under way have waited for their answers for a while', async (t) => {
    const { ask, begun } = createAttempts(t, 1, 1)
    ask('a1', 'b1')
    assert.deepEqual(begun, ['a1'])
    await sleep(400)
    assert.deepEqual(begun, ['a1', 'b1'])
  })
})
