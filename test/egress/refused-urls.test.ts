import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEgress } from '../../host/egress/egress.ts'
import { egressFetch } from '../../host/egress/fetch.ts'
import { hopsKey, openEgress, serve } from './local-server.ts'

const limits = { timeoutMs: 5_000, maxBytes: 65_536, hops: 0 }
const get = (url: string) => ({ method: 'GET', url, headers: [], redirect: 'follow' as const })

/** Spellings of loopback that an HTTP client may accept. PORT is a server that must get no connection. */
const loopback = [
  'http://127.0.0.1:PORT/',
  'http://127.0.0.1.:PORT/',
  'http://127.1:PORT/',
  'http://127.0.1:PORT/',
  'http://127.000.000.001:PORT/',
  'http://2130706433:PORT/',
  'http://017700000001:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://0x7f000001:PORT/',
  'http://0x7f.0.0.0x1:PORT/',
  'http://0x7f.1:PORT/',
  'http://%31%32%37.0.0.1:PORT/',
  'http://127.0.0.1:PORT',
  'http://①②⑦.⓪.⓪.①:PORT/',
  'http://127。0。0。1:PORT/',
  'http://127.0.0.2:PORT/',
  'http://0:PORT/',
  'http://0.0.0.0:PORT/',
  'http://0x0:PORT/',
  'http://[::1]:PORT/',
  'http://[::]:PORT/',
  'http://[0:0:0:0:0:0:0:1]:PORT/',
  'http://[0000::0001]:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::ffff:7f00:1]:PORT/',
  'http://[::127.0.0.1]:PORT/',
  'http://[64:ff9b::127.0.0.1]:PORT/',
  'http://[2002:7f00:1::]:PORT/',
  'http:\\\\127.0.0.1:PORT/',
  'http:127.0.0.1:PORT/',
  ' http://127.0.0.1:PORT/',
  'http://12\t7.0.0.1:PORT/',
  'HTTP://127.0.0.1:PORT/',
]

const elsewhere = [
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
  'http://10.0.0.1/',
  'http://192.168.0.1/',
  'http://172.16.0.1/',
  'http://[fe80::1]/',
  'http://255.255.255.255/',
  'http://224.0.0.1/',
  'https://127.0.0.1/',
  'https://[::1]/',
]

const neverHttp = [
  'ftp://example.com/',
  'file:///etc/passwd',
  'data:text/plain,hello',
  'blob:http://example.com/1',
  'ws://example.com/',
  'unix:/var/run/docker.sock',
  'javascript:alert(1)',
  'http://user@example.com/',
  'http://user:secret@example.com/',
  'http://:secret@example.com/',
  'http://example.com:25/',
  'http://example.com:22/',
  'https://example.com:6667/',
]

const notUrls = [
  '',
  '/path',
  '//example.com/',
  'http://',
  'http://[::1%25lo]/',
  'http://127.0.0.1:99999/',
  'http://1.2.3.4.5/',
]

describe('the URL', () => {
  for (const spelling of loopback) {
    it(`${JSON.stringify(spelling)} is refused without a connection`, async (t) => {
      const server = await serve(t, (_, response) => response.end('secret'))
      const egress = openEgress(t, { allow: [] })
      const url = spelling.replace('PORT', String(server.port))
      await assert.rejects(egressFetch(egress, get(url), limits), { code: 'egress_refused' })
      assert.equal(server.connections(), 0)
    })
  }

  for (const url of [...elsewhere, ...neverHttp]) {
    it(`${url} is refused`, async (t) => {
      await assert.rejects(egressFetch(openEgress(t, { allow: [] }), get(url), limits), {
        code: 'egress_refused',
      })
    })
  }

  for (const url of notUrls) {
    it(`"${url}" is refused as an invalid URL`, async (t) => {
      await assert.rejects(egressFetch(openEgress(t), get(url), limits), { code: 'bad_request' })
    })
  }

  it('with a password in its URL is refused, and the error hides the password', async (t) => {
    const error = await egressFetch(openEgress(t), get('http://me:hunter2@example.com/'), limits).catch(
      String,
    )
    assert.match(String(error), /user name or password/)
    assert.doesNotMatch(String(error), /hunter2/)
  })

  it('of a redirect from an allowed host to a private address is refused, without its answer', async (t) => {
    const inner = await serve(t, (_, response) => response.end('secret'))
    for (const location of [
      `http://127.0.0.2:${inner.port}/`,
      `http://[::1]:${inner.port}/`,
      'file:///etc/passwd',
    ]) {
      const outer = await serve(t, (_, response) => response.writeHead(302, { location }).end())
      await assert.rejects(egressFetch(openEgress(t), get(outer.urlOrigin), limits), {
        code: 'egress_refused',
      })
    }
    assert.equal(inner.connections(), 0)
  })

  it("may be Annex's own address, but no other port or spelling of its host", async (t) => {
    const own = await serve(t, (_, response) => response.end('own'))
    const other = await serve(t, (_, response) => response.end('other'))
    const egress = openEgress(t, { allow: [], ownUrl: () => own.urlOrigin })
    assert.equal((await egressFetch(egress, get(own.urlOrigin), limits)).status, 200)
    for (const url of [other.urlOrigin, `https://127.0.0.1:${own.port}/`, `http://127.0.0.2:${own.port}/`]) {
      await assert.rejects(egressFetch(egress, get(url), limits), { code: 'egress_refused' })
    }
    assert.equal(other.connections(), 0)
  })

  it('list of EGRESS_ALLOW is checked at the start', () => {
    assert.throws(() => createEgress({ allow: ['http://x'], hopsKey }), { code: 'settings_invalid' })
  })
})
