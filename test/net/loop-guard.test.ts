import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextHops, readHops } from '../../host/net/request/loop-guard.ts'

describe('the count of scripts that a request went through', () => {
  it('starts at 0 and goes up by one', () => {
    assert.equal(readHops(undefined), 0)
    assert.equal(readHops('3'), 3)
    assert.equal(nextHops(readHops('3')), 4)
  })

  for (const header of ['', '-1', '1.5', '1e9', '0x1', '1, 1', '999', ' 1', 'NaN', '٣']) {
    it(`is at the limit for "${header}", which Annex does not write`, () => assert.equal(readHops(header), 8))
  }

  it('ends at 8', () => {
    assert.equal(nextHops(7), 8)
    assert.throws(() => nextHops(8), { code: 'egress_loop', message: /requests its own endpoint/ })
    assert.throws(() => nextHops(readHops('99')), { code: 'egress_loop' })
  })
})
