import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHops, nextHops } from '../../host/egress/loop-guard.ts'

const { read, write } = createHops(Buffer.alloc(32, 1))

describe('the count of scripts that a request went through', () => {
  it('starts at 0 and rises by one', () => {
    assert.equal(read(undefined), 0)
    assert.equal(read(write(3)), 3)
    assert.equal(nextHops(read(write(3))), 4)
  })

  const [, signature = ''] = write(3).split('.')
  const foreign = createHops(Buffer.alloc(32, 2)).write(8)
  for (const header of [
    '',
    'zzz',
    '8',
    '-1',
    `8.${signature}`,
    `3.${signature.slice(1)}`,
    `${write(3)}0`,
    foreign,
  ]) {
    it(`is 0 for "${header}", which has no valid signature`, () => assert.equal(read(header), 0))
  }

  it('is at most 8', () => {
    assert.equal(nextHops(7), 8)
    assert.throws(() => nextHops(8), { code: 'egress_loop', message: /requests its own endpoint/ })
    assert.throws(() => nextHops(read(write(8))), { code: 'egress_loop' })
  })
})
