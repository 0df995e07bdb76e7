import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { egressFetch } from '../../host/egress/fetch.ts'
import { sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { openEgress, serve } from './local-server.ts'

const limits = { timeoutMs: 5_000, maxBytes: 65_536, hops: 0 }
const get = (url: string) => ({ method: 'GET', url, headers: [], redirect: 'follow' as const })
const resolveTo = (address: string) => async () => [{ address, family: address.includes(':') ? 6 : 4 }]

/** Answers of an attacker's name server. */
const inner = [
  '127.0.0.1',
  '0.0.0.0',
  '10.0.0.1',
  '169.254.169.254',
  '100.100.100.200',
  '::1',
  '::',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  'fe80::1%lo',
  'fd00:ec2::254',
  'not an address',
]

describe('a name that resolves to a private address', () => {
  for (const address of inner) {
    it(`is refused for a fetch, a redirect and a delivery: ${address}`, async (t) => {
      const egress = openEgress(t, { allow: [], resolve: resolveTo(address) })
      await assert.rejects(egressFetch(egress, get('http://rebind.test/'), limits), {
        code: 'egress_refused',
      })
      const outer = await serve(t, (_, response) =>
        response.writeHead(302, { location: 'http://rebind.test/' }).end(),
      )
      const redirected = openEgress(t, {
        resolve: resolveTo(address),
        ownUrl: () => outer.urlOrigin,
        allow: [],
      })
      await assert.rejects(egressFetch(redirected, get(outer.urlOrigin), limits), { code: 'egress_refused' })
      const delivery = { id: 'dlv', eventId: 'evt', url: 'http://rebind.test/', body: '{}' }
      const attempt = await sendAttempt(egress, delivery, { current: 'whsec_x' }, { nowMs: 0 })
      assert.equal(attempt.error?.code, 'egress_refused')
    })
  }
})

describe('a header that contains a second header', () => {
  const smuggled: [string, string][] = [
    [' host', 'evil'],
    ['host ', 'evil'],
    ['x\r\nhost', 'evil'],
    ['x', 'a\r\nhost: evil'],
    ['x', 'a\nhost: evil'],
    ['x', 'a\0'],
    [':authority', 'evil'],
    ['', 'evil'],
    ['x', '\u010dhost: evil'],
  ]
  for (const header of smuggled) {
    it(`is not sent: ${JSON.stringify(header)}`, async (t) => {
      const server = await serve(t, (_, response) => response.end('ok'))
      const request = { ...get(server.urlOrigin), headers: [header] }
      await assert.rejects(egressFetch(openEgress(t), request, limits), { code: 'bad_request' })
      assert.equal(server.connections(), 0)
    })
  }
})
