import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertDeclared } from '../../host/egress/declared-hosts.ts'
import { egressFetch } from '../../host/egress/fetch.ts'
import { openEgress, serve } from './local-server.ts'

const isOwn = (urlOrigin: string) => urlOrigin === 'https://annex.example'
const check = (url: string, hosts: string[] | undefined, isRequired = false) =>
  assertDeclared(new URL(url), { integration: 'stats', hosts, isRequired, isOwn })

const hosts = [
  'api.example.com',
  '*.example.net',
  'localhost:3000',
  '192.0.2.7',
  'Mixed.Example',
  'tls.example:443',
]

const reachable = [
  'https://api.example.com/v1?x#y',
  'http://api.example.com/',
  'https://API.example.com/',
  'https://api.example.com./',
  'https://api.example.com:443/',
  'https://a.example.net/',
  'https://a.b.example.net/',
  'http://localhost:3000/',
  'http://192.0.2.7/',
  'http://0xc0000207/',
  'http://mixed.example/',
  'https://tls.example/',
  'http://tls.example:443/',
  'https://annex.example/v1/orgs',
]

const refused = [
  'https://example.com/',
  'https://x.api.example.com/',
  'https://api.example.com.evil.test/',
  'https://api.example.comevil.test/',
  'https://evilapi.example.com/',
  'https://example.net/',
  'https://evilexample.net/',
  'https://a.example.net.evil.test/',
  'https://a.example.net:8443/',
  'https://api.example.com:8443/',
  'https://api.example.com:80/',
  'http://localhost/',
  'http://localhost:3001/',
  'http://tls.example/',
  'http://192.0.2.8/',
  'http://[::ffff:192.0.2.7]/',
  'https://api%2eexample.com.evil.test/',
  'https://annex.example:444/',
  'http://annex.example/',
]

describe('the hosts that a manifest declares', () => {
  for (const url of reachable) it(`let a script reach ${url}`, () => check(url, hosts))
  for (const url of refused) {
    it(`do not let it reach ${url}`, () => {
      assert.throws(() => check(url, hosts), {
        code: 'egress_refused',
        message: /^stats may not reach \S+: .*Add "\S+" to "egress" in the manifest\.$/,
      })
    })
  }

  it('are unlimited if the manifest declares none and the operator does not require it', () =>
    check('https://anywhere.test/', undefined))

  it('are limited to Annex itself if the manifest declares none and the operator requires it', () => {
    check('https://annex.example/v1/orgs', undefined, true)
    assert.throws(() => check('https://anywhere.test/', undefined, true), {
      code: 'egress_refused',
      message: /\(EGRESS_REQUIRE_DECLARED\), and it declares nothing\. Add "anywhere\.test" to "egress"/,
    })
    assert.throws(() => check('https://anywhere.test/', []), { code: 'egress_refused' })
  })

  it('are checked at each redirect, before a request to the second host', async (t) => {
    const inner = await serve(t, (_, response) => response.end('inner'))
    const outer = await serve(t, (_, response) =>
      response.writeHead(307, { location: inner.urlOrigin }).end(),
    )
    const declared = { integration: 'stats', isRequired: false, isOwn }
    const fetchWith = (entries: string[]) =>
      egressFetch(
        openEgress(t),
        { method: 'POST', url: outer.urlOrigin, headers: [], redirect: 'follow', body: Buffer.from('data') },
        {
          ...{ timeoutMs: 5_000, maxBytes: 1_000, hops: 0 },
          assertAllowed: (url) => assertDeclared(url, { ...declared, hosts: entries }),
        },
      )
    await assert.rejects(fetchWith([`127.0.0.1:${outer.port}`]), {
      code: 'egress_refused',
      message: new RegExp(`127\\.0\\.0\\.1:${inner.port}`),
    })
    assert.equal(inner.connections(), 0)
    const answer = await fetchWith([`127.0.0.1:${outer.port}`, `127.0.0.1:${inner.port}`])
    assert.equal(answer.url, `${inner.urlOrigin}/`)
  })
})
