import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAllowList } from '../../host/egress/address-guard.ts'

describe('the allow list of EGRESS_ALLOW', () => {
  it('permits only public addresses when it is empty', () => {
    const list = parseAllowList([])
    assert.equal(list.permits('8.8.8.8'), true)
    assert.equal(list.permits('10.0.0.1'), false)
    assert.equal(list.hasName('localhost'), false)
  })

  it('permits its addresses, ranges and names, but no others', () => {
    const list = parseAllowList([
      '10.1.0.0/16',
      '192.168.0.7',
      'fd00::/8',
      '[::1]',
      'CI.internal.',
      'localhost',
    ])
    for (const address of ['10.1.0.0', '10.1.255.255', '192.168.0.7', 'fd12::1', '::1']) {
      assert.equal(list.permits(address), true, address)
    }
    for (const address of [
      '10.2.0.0',
      '10.0.255.255',
      '192.168.0.8',
      'fe80::1',
      '::2',
      '127.0.0.1',
      'localhost',
    ]) {
      assert.equal(list.permits(address), false, address)
    }
    for (const name of ['ci.internal', 'ci.internal.', 'CI.INTERNAL', 'localhost']) {
      assert.equal(list.hasName(name), true, name)
    }
    for (const name of ['x.ci.internal', 'internal', 'ci.internal..', '']) {
      assert.equal(list.hasName(name), false, name)
    }
  })

  it('checks the IPv4 address behind an allowed NAT64 range', () => {
    const list = parseAllowList(['64:ff9b::/96'])
    assert.equal(list.permits('64:ff9b::8.8.8.8'), true)
    assert.equal(list.permits('64:ff9b::10.0.0.1'), false)
    assert.equal(list.permits('64:ff9b::169.254.169.254'), false)
    assert.equal(parseAllowList(['64:ff9b::/96', '10.0.0.0/8']).permits('64:ff9b::10.0.0.1'), true)
  })

  it('does not permit the IPv4-mapped spelling of an allowed IPv4 address', () => {
    assert.equal(parseAllowList(['127.0.0.1']).permits('::ffff:127.0.0.1'), false)
  })

  const wrong = [
    'http://ci.internal',
    'ci.internal:80',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    '10.1',
    '*',
    'a b',
    '/8',
    '.',
    '',
  ]
  for (const entry of [...wrong, 'fe80::1%eth0', '10.0.0.0/x']) {
    it(`rejects "${entry}" as neither name, address nor range`, () => {
      assert.throws(() => parseAllowList([entry]), {
        code: 'settings_invalid',
        message: /EGRESS_ALLOW: ".*" is no/,
      })
    })
  }
})
