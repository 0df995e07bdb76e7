import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'

const script = `
import { createIntegration } from '@annex/runtime'
let asked = 0
const answer = async () => {
  asked += 1
  const headers = { 'content-type': 'text/javascript', vary: 'Accept', 'cache-control': 'public, max-age=600', 'x-asked': String(asked) }
  return new Response('stolen = 1', { headers })
}
export default createIntegration({ fetch: answer, fetch_visitor_authentication: answer, fetch_published_script: answer })`

/** The destinations of the Fetch standard, and some that it may have one day. */
const running = [
  ...['script', 'style', 'worker', 'sharedworker', 'serviceworker', 'audioworklet', 'paintworklet', 'xslt'],
  ...[
    'json',
    'text',
    'manifest',
    'font',
    'embed',
    'object',
    'webidentity',
    'speculationrules',
    'new-worklet',
  ],
]
const passive = ['empty', 'document', 'iframe', 'frame', 'image', 'audio', 'video', 'track', 'report']
const otherSites = ['cross-site', 'same-site', 'none']

describe('what an integration answers', () => {
  let annex: Annex
  /** Each address where an answer of a script keeps its type. */
  let addresses: string[]
  before(async () => {
    const scopes = ['site:visitor:auth', 'site:script:inject']
    annex = await startAnnex({ plugins: { thief: { script, scopes } }, flags: { RATE_LIMIT_VISITOR: '0' } })
    const { path, endpoint, id } = await installSample(annex, 'thief', 'site')
    addresses = [
      ...[`${annex.url}/x/thief`, `${annex.url}/x/thief/a.js?b=c`, `${annex.url}/x/thief/${id}`, endpoint],
      ...[`${annex.url}${path}/visitor-auth`, `${annex.url}${path}/script`],
    ]
  })
  after(() => annex.close())

  const ask = (address: string, site?: string, destination?: string, method = 'GET') =>
    fetch(address, {
      method,
      headers: {
        ...(site !== undefined && { 'sec-fetch-site': site }),
        ...(destination !== undefined && { 'sec-fetch-dest': destination }),
      },
    })

  it('is no script, style or worker of a page of Annex', async () => {
    for (const address of addresses) {
      for (const destination of [...running, undefined]) {
        const response = await ask(address, 'same-origin', destination)
        const { error } = (await response.json()) as Json
        assert.deepEqual([response.status, error.code], [403, 'load_refused'], `${destination} ${address}`)
        assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
      }
    }
  })

  it('is asked for by no other method, and no script runs then', async () => {
    const count = async () => Number((await ask(`${annex.url}/x/thief`)).headers.get('x-asked'))
    const before = await count()
    for (const method of ['POST', 'PUT', 'PROPFIND']) {
      const { status } = await ask(`${annex.url}/x/thief`, 'same-origin', 'script', method)
      assert.equal(status, 403, method)
    }
    assert.equal(await count(), before + 1)
  })

  it('is shown, framed and fetched by them', async () => {
    for (const address of addresses) {
      for (const destination of passive) {
        assert.equal(
          (await ask(address, 'same-origin', destination)).status,
          200,
          `${destination} ${address}`,
        )
      }
    }
  })

  it('is all that to pages of other origins, which those of endpoints are, and to programs', async () => {
    for (const address of addresses) {
      for (const site of otherSites) {
        for (const destination of ['script', 'style', 'worker', 'empty']) {
          assert.equal(
            (await ask(address, site, destination)).status,
            200,
            `${site} ${destination} ${address}`,
          )
        }
      }
      assert.equal((await ask(address)).status, 200)
      assert.equal((await ask(address, undefined, 'script')).status, 200)
    }
  })

  it('is cached for the same kind of request alone, and keeps its own Vary', async () => {
    for (const address of addresses) {
      const vary = (await ask(address)).headers.get('vary') ?? ''
      assert.match(vary, /Sec-Fetch-Site, Sec-Fetch-Dest/, address)
      if (address.includes('/x/')) assert.match(vary, /Accept/)
    }
  })

  it('has no other way: a browser runs no answer of the API', async () => {
    for (const path of ['/v1/logs', '/v1/integrations', '/healthz', '/openapi.json', '/v1/nothing']) {
      const { headers } = await annex.api('GET', path)
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
    }
  })
})
