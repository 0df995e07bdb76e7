import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aloneSlot, createSharedSlots } from '../../host/sandbox/process-slots.ts'
import type { SandboxGroup } from '../../host/sandbox/target.ts'

const version = { digest: 'd', code: '' }
const targetOf = (group: SandboxGroup, key = 'inst_1') => ({ key, group, integration: 'x', version })

describe('the slot of a target with a shared process', () => {
  it('belongs to one publisher below the maximum, and its installations keep it', () => {
    const slotOf = createSharedSlots({ perPublisher: 1, most: 2, running: () => 0 })
    assert.equal(slotOf(targetOf('operator')), 'operator#0')
    assert.equal(slotOf(targetOf('publisher-a')), 'third-party#0')
    assert.equal(slotOf(targetOf('publisher-b')), 'third-party#1')
    assert.equal(slotOf(targetOf('publisher-a', 'inst_2')), 'third-party#0')
  })

  it('is the least busy one above the maximum, and never the operator’s', () => {
    const running = new Map([['third-party#0', 7]])
    const slotOf = createSharedSlots({ perPublisher: 1, most: 2, running: (slot) => running.get(slot) ?? 0 })
    for (const group of ['operator', 'publisher-a', 'publisher-b'] as const) slotOf(targetOf(group))
    assert.equal(slotOf(targetOf('publisher-c')), 'third-party#1')
    running.set('third-party#1', 9)
    assert.equal(slotOf(targetOf('publisher-d')), 'third-party#0')
    assert.equal(slotOf(targetOf('publisher-c')), 'third-party#1')
  })

  it('is the one with the fewest publishers if all are idle', () => {
    const slotOf = createSharedSlots({ perPublisher: 1, most: 2, running: () => 0 })
    const slots = ['a', 'b', 'c', 'd'].map((name) => slotOf(targetOf(`publisher-${name}`)))
    assert.deepEqual(slots, ['third-party#0', 'third-party#1', 'third-party#0', 'third-party#1'])
  })

  it('depends on the installation if a publisher has several', () => {
    const slotOf = createSharedSlots({ perPublisher: 3, most: 8, running: () => 0 })
    const slots = Array.from({ length: 50 }, (_, n) => slotOf(targetOf('publisher-a', `inst_${n}`)))
    assert.equal(new Set(slots).size, 3)
    assert.equal(slotOf(targetOf('publisher-a', 'inst_7')), slots[7])
  })

  it('names no publisher if the script runs alone', () => {
    assert.equal(aloneSlot(targetOf('publisher-a')), 'third-party!inst_1')
    assert.equal(aloneSlot(targetOf('operator')), 'operator!inst_1')
  })
})
