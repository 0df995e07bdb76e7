import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request) => new Response('of the script at ' + new URL(request.url).pathname) })`

describe('a host name below localhost', () => {
  let annex: Annex
  let installation: string
  let site: string
  before(async () => {
    annex = await startAnnex({ plugins: { echo: { script }, Other: { script } } })
    installation = (await installSample(annex, 'echo', 'site')).id
    site = annex.server.samples.site
  })
  after(() => annex.close())

  async function ask(host: string, path: string, url = annex.url): Promise<[status: number, body: string]> {
    const asked = request(url, { path, headers: { host } }).end()
    const [answer] = await new Promise<[import('node:http').IncomingMessage]>((resolve, reject) =>
      asked.on('response', (one) => resolve([one])).on('error', reject),
    )
    return [answer.statusCode ?? 0, await text(answer)]
  }
  const port = () => new URL(annex.url).port

  it('has the endpoint that it names, at the same path', async () => {
    const ofSite = `/x/echo/${installation}/sites/${site}`
    const cases: [host: string, path: string][] = [
      ['echo.localhost', '/x/echo'],
      [`echo.localhost:${port()}`, '/x/echo/deeper?a=b'],
      ['ECHO.LocalHost', '/x/echo'],
      ['other.localhost', '/x/Other'],
      [`${installation}.localhost:${port()}`, `/x/echo/${installation}/deeper`],
      [`${site}.${installation}.localhost`, ofSite],
    ]
    for (const [host, path] of cases) {
      const of = path.replace(/\?.*/, '')
      assert.deepEqual(await ask(host, path), [200, `of the script at ${of}`], `${host} ${path}`)
    }
  })

  it('has no other endpoint, no API and no page', async () => {
    const cases: [host: string, path: string][] = [
      ['echo.localhost', '/x/Other'],
      ['echo.localhost', `/x/echo/${installation}`],
      ['echo.localhost', '/x/echo/../Other'],
      ['echo.localhost', 'http://127.0.0.1/x/Other'],
      [`${installation}.localhost`, '/x/echo'],
      [`${installation}.localhost`, `/x/echo/${installation}/sites/${site}`],
      [`${site}.localhost`, `/x/echo/${installation}/sites/${site}`],
      [`echo.${installation}.localhost`, `/x/echo/${installation}`],
      ['a.echo.localhost', '/x/echo'],
      ['nothing.localhost', '/x/nothing'],
      ['echo.localhost.:80', '/x/Other'],
      ...[
        '/',
        '/v1/me',
        '/v1/integrations',
        '/healthz',
        '/metrics',
        '/openapi.json',
        '/orgs/home',
        '/sign-in',
      ].map((path): [string, string] => ['echo.localhost', path]),
    ]
    for (const [host, path] of cases) {
      const [status, body] = await ask(host, path)
      assert.equal(status, 404, `${host} ${path}`)
      assert.match(body, /not_found/)
    }
  })

  it('is any other name where it is none of these', async () => {
    for (const host of [
      'localhost',
      `localhost:${port()}`,
      '127.0.0.1',
      'echo.localhost.example',
      'notlocalhost',
      'h',
    ]) {
      assert.deepEqual(await ask(host, '/x/echo'), [200, 'of the script at /x/echo'], host)
      assert.equal((await ask(host, '/healthz'))[0], 200, host)
    }
  })

  it('has all of Annex where PUBLIC_URL names it', async () => {
    const other = await startAnnex({
      plugins: { echo: { script } },
      flags: { PUBLIC_URL: 'http://annex.localhost:9000' },
    })
    try {
      assert.equal((await ask('Annex.localhost:9000', '/healthz', other.url))[0], 200)
      assert.equal((await ask('echo.localhost:9000', '/healthz', other.url))[0], 404)
      assert.equal((await ask('echo.localhost:9000', '/x/echo', other.url))[0], 200)
    } finally {
      await other.close()
    }
  })
})
