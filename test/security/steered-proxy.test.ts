import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Annex, startAnnex } from '../support/annex.ts'
import { skipWithoutNginx, startNginx } from '../support/nginx.ts'

/** Answers with the headers that its query has. */
const headers = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request) => new Response('of the script', { headers: [...new URL(request.url).searchParams] }),
})`

describe('an answer of a script', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({
      sandboxes: 'processes',
      plugins: { one: { script: headers }, two: { script: headers } },
    })
  })
  after(() => annex.close())

  const dropped = [
    ...['X-Accel-Redirect', 'X-Accel-Buffering', 'X-Accel-Limit-Rate', 'x-accel-anything', 'X-Sendfile'],
    ...['X-Lighttpd-Send-File', 'X-Reproxy-URL', 'X-LiteSpeed-Location', 'X-Envoy-Overloaded', 'Accept-CH'],
    ...['Critical-CH', 'Secure-Session-Registration', 'Use-As-Dictionary', 'Set-Login', 'NEL', 'Report-To'],
    ...['Service-Worker-Allowed', 'Clear-Site-Data', 'Reporting-Endpoints', 'Alt-Svc'],
    ...['Strict-Transport-Security', 'Origin-Trial', 'Activate-Storage-Access', 'Supports-Loading-Mode'],
    ...[
      'Surrogate-Control',
      'Surrogate-Key',
      'CDN-Cache-Control',
      'Cloudflare-CDN-Cache-Control',
      'Cache-Tag',
    ],
    ...['Cache-Tags', 'Edge-Cache-Tag', 'Netlify-Cache-Tag', 'Akamai-Cache-Control', 'xkey', 'CF-Edge-Cache'],
    ...['X-Middleware-Rewrite', 'x-middleware-next', 'Attribution-Reporting-Register-Source', 'Edge-Control'],
    ...['Shared-Storage-Write', 'Observe-Browsing-Topics'],
  ]
  for (const name of dropped) {
    it(`loses ${name}`, async () => {
      const response = await fetch(`${annex.url}/x/one?${name}=x&x-kept=yes`)
      assert.deepEqual([response.status, response.headers.get('x-kept')], [200, 'yes'])
      assert.equal(response.headers.get(name), null)
      assert.equal(await response.text(), 'of the script')
    })
  }

  it('keeps its own Cache-Control, and loses cookie prefixes that browsers trust', async () => {
    const query = new URLSearchParams([['cache-control', 'max-age=5']])
    const names = ['__Host-a', '__secure-a', '__Http-a', '__HTTP-a', '__Host-Http-a', '=__Http-a']
    for (const name of names) query.append('set-cookie', `${name}=1; Secure; HttpOnly`)
    const { headers } = await fetch(`${annex.url}/x/one?${query}`)
    assert.equal(headers.get('cache-control'), 'max-age=5')
    const set = headers.getSetCookie().map((cookie) => cookie.split('=')[0])
    assert.deepEqual(
      set,
      names.map((name) => `x-${name.replace(/^=/, '')}`),
    )
  })

  it('keeps a header whose name merely begins like a dropped one', async () => {
    const response = await fetch(`${annex.url}/x/one?Accept-CHARSET=x&X-Accelerate=y&Report-Tool=z`)
    const kept = ['accept-charset', 'x-accelerate', 'report-tool'].map((name) => response.headers.get(name))
    assert.deepEqual(kept, ['x', 'y', 'z'])
  })

  describe('behind nginx', { skip: skipWithoutNginx() }, () => {
    const ends = new AsyncDisposableStack()
    let behind = ''
    before(async () => {
      const folder = mkdtempSync(join(tmpdir(), 'annex-internal-'))
      ends.defer(() => rmSync(folder, { recursive: true, force: true }))
      writeFileSync(join(folder, 'file'), 'of the proxy')
      // nginx may have another user than the test.
      chmodSync(folder, 0o755)
      // Obeyed without Annex: the test would see it if Annex passed it on.
      const steering = createServer((_request, response) =>
        response.writeHead(200, { 'x-accel-redirect': '/internal/file' }).end('of the server'),
      )
      ends.defer(() => void steering.close())
      steering.listen(0, '127.0.0.1')
      await once(steering, 'listening')
      const { port } = steering.address() as AddressInfo
      const started = await startNginx(`
        location /internal/ { internal; alias ${folder}/; }
        location /steering { proxy_pass http://127.0.0.1:${port}; }
        location / { proxy_pass ${annex.url}; proxy_http_version 1.1; proxy_set_header Host $http_host; }`)
      ends.defer(started.close)
      behind = started.url
    })
    after(() => ends.disposeAsync())

    it('cannot make nginx send another file', async () => {
      assert.equal(await (await fetch(`${behind}/steering`)).text(), 'of the proxy')
      for (const to of ['/internal/file', '/x/two', '/steering']) {
        const response = await fetch(`${behind}/x/one?X-Accel-Redirect=${to}`)
        assert.equal(await response.text(), 'of the script', to)
      }
    })

    it('comes from the requested endpoint, for any encoding of dots and separators', async () => {
      for (const path of ['..%2ftwo', '..%5ctwo', '..;/two', '%252e%252e%252ftwo']) {
        assert.equal((await fetch(`${behind}/x/one/${path}`)).status, 404, path)
      }
      assert.equal((await fetch(`${behind}/x/one/a%2Fb`)).status, 200)
    })
  })
})
