import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { embeddedIPv4, isPublicAddress, rangeOf } from '../../host/egress/public-address.ts'

const refused: [string, string][] = [
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['10.0.0.1', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.1', 'carrier grade nat'],
  ['100.100.100.200', 'carrier grade nat'],
  ['100.127.255.255', 'carrier grade nat'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['168.63.129.16', 'metadata'],
  ['169.254.169.254', 'link local'],
  ['169.254.170.2', 'link local'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.192', 'reserved'],
  ['192.0.2.1', 'reserved'],
  ['192.88.99.1', 'reserved'],
  ['192.168.1.1', 'private'],
  ['198.18.0.1', 'reserved'],
  ['198.19.255.255', 'reserved'],
  ['198.51.100.1', 'reserved'],
  ['203.0.113.1', 'reserved'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.250', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['::ffff:127.0.0.1', 'ipv4 mapped'],
  ['::ffff:7f00:1', 'ipv4 mapped'],
  ['::ffff:8.8.8.8', 'ipv4 mapped'],
  ['::ffff:0:10.0.0.1', 'rfc6145'],
  ['::7f00:1', 'not global'],
  ['::808:808', 'not global'],
  // ipaddr.js reads this old spelling as the mapped one.
  ['::127.0.0.1', 'ipv4 mapped'],
  ['64:ff9b::10.0.0.1', 'rfc6052'],
  ['64:ff9b::8.8.8.8', 'rfc6052'],
  ['64:ff9b:1::10.0.0.1', 'rfc6052'],
  ['64:ff9b:1:ffff::1', 'rfc6052'],
  ['100::1', 'discard'],
  ['2001::1', 'teredo'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'teredo'],
  ['2001:2::1', 'benchmarking'],
  ['2001:10::1', 'deprecated orchid'],
  ['2001:20::1', 'orchid2'],
  ['2001:db8::1', 'reserved'],
  ['2002:a00:1::1', '6to4'],
  ['2002:808:808::1', '6to4'],
  ['2a00:1450:4001:80b:0:5efe:10.0.0.1', 'tunnel to a special address'],
  ['2a00:1450:4001:80b:200:5efe:192.168.0.1', 'tunnel to a special address'],
  ['3fff::1', 'reserved'],
  ['4000::1', 'not global'],
  ['5f00::1', 'segment routing'],
  ['fc00::1', 'unique local'],
  ['fd00:ec2::254', 'unique local'],
  ['fe80::1', 'link local'],
  ['fe80::1%eth0', 'scoped'],
  ['2606:4700::1111%1', 'scoped'],
  ['fec0::1', 'deprecated site local'],
  ['ff02::1', 'multicast'],
  ['', 'no address'],
  ['localhost', 'no address'],
  ['127.1', 'no address'],
  ['0x7f.0.0.1', 'no address'],
  ['0177.0.0.1', 'no address'],
  ['2130706433', 'no address'],
  ['8.8.8.8 ', 'no address'],
  ['[::1]', 'no address'],
]

const reachable = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.3.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001:80b::200e',
  '2a00:1450:4001:80b:0:5efe:8.8.8.8',
]

describe('the address', () => {
  for (const [address, range] of refused) {
    it(`"${address}" is not public: ${range}`, () => {
      assert.equal(rangeOf(address), range)
      assert.equal(isPublicAddress(address), false)
    })
  }
  for (const address of reachable) {
    it(`"${address}" is public`, () => assert.equal(rangeOf(address), 'public'))
  }
})

describe('the IPv4 address inside an IPv6 address', () => {
  const cases: [string, string[]][] = [
    ['::ffff:10.1.2.3', ['10.1.2.3']],
    ['64:ff9b::10.1.2.3', ['10.1.2.3']],
    ['64:ff9b:1:a01:2:300::', ['0.0.0.0', '10.1.2.3']],
    ['2002:a01:203::', ['10.1.2.3']],
    ['2001:0:a01:203::f5fe:fdfc', ['10.1.2.3', '10.1.2.3']],
    ['::10.1.2.3', ['10.1.2.3']],
    ['::a01:203', ['10.1.2.3']],
    ['::1', []],
    ['::', []],
    ['2606:4700::1111', []],
    ['10.1.2.3', []],
  ]
  for (const [address, expected] of cases) {
    it(`${address}: ${expected.join(' and ') || 'none'}`, () => {
      assert.deepEqual(embeddedIPv4(address), expected)
    })
  }
})
