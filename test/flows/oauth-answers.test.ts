import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'
import { createBrowser } from '../support/browser.ts'

type Answer = { status?: number; type?: string; body: string; headers?: Record<string, string> }

const [access, refresh] = ['xoxb-ACCESS-Q4711Z', 'xoxr-REFRESH-Q4711Z']
const json = (value: unknown, status = 200): Answer => ({ status, body: JSON.stringify(value) })
const tokens = { access_token: access, refresh_token: refresh }

/** A provider that answers each token request as it is told. */
async function startProvider() {
  let asked = 0
  let next: Answer = { body: '' }
  const server = createServer(async (request, response) => {
    await readText(request)
    asked += 1
    const { status = 200, type = 'application/json', body, headers } = next
    response.writeHead(status, { 'content-type': type, ...headers }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    answer(given: Answer) {
      next = given
    },
    close: () => server.close(),
  }
}

const script = (provider: string) => `
import { createIntegration, createOAuthHandler, getOAuthToken } from '@annex/runtime'
const config = {
  clientId: 'id', clientSecret: 'shh', authorizeURL: '${provider}/authorize', accessTokenURL: '${provider}/token',
}
const connect = createOAuthHandler(config)
export default createIntegration({
  fetch: async (request, context) => {
    const { configuration } = context.environment.installation
    if (request.url.includes('/oauth')) return connect(request, context)
    if (request.url.endsWith('/stored')) return Response.json(configuration.account ?? null)
    return new Response(await getOAuthToken(configuration.account, config, context))
  },
})`

const more = `
configurations:
  account:
    properties:
      account: { type: button, title: Account, description: Go, button_text: Go, callback_url: /oauth }`

describe('the answers of a provider to a token request', () => {
  let annex: Annex
  let provider: Awaited<ReturnType<typeof startProvider>>
  let path: string
  let endpoint: string
  before(async () => {
    provider = await startProvider()
    annex = await startAnnex({ plugins: { tracker: { script: script(provider.url), more } } })
    const base = '/v1/integrations/tracker/installations'
    const { organization } = annex.server.samples
    const { json: installed } = await annex.api('POST', base, {
      organization,
      ...(await agreementTo(annex, 'tracker')),
    })
    path = `${base}/${installed.id}`
    endpoint = installed.urls.publicEndpoint
  })
  after(async () => {
    await annex.close()
    provider.close()
  })

  async function connect(answer: Answer): Promise<Response> {
    provider.answer(answer)
    const browser = createBrowser()
    const { searchParams } = new URL((await browser.get(`${endpoint}/oauth`)).headers.get('location') ?? '')
    const back = `${searchParams.get('redirect_uri')}?code=c0de&state=${searchParams.get('state')}`
    return browser.get(back)
  }

  const stored = async (): Promise<Json> => (await fetch(`${endpoint}/stored`)).json()
  const connection = async (): Promise<Json> => (await annex.api('GET', path)).json.connections.account
  const problems = async (): Promise<Json[]> =>
    (await annex.api('GET', '/v1/problems')).json.items.filter(({ kind }: Json) => kind === 'connection')

  /** All that people can read. */
  async function assertNoTokenInTexts(): Promise<void> {
    for (const list of ['/v1/logs', '/v1/problems', '/v1/audit', '/v1/jobs', path]) {
      const { text } = await annex.api('GET', list)
      for (const secret of [access, refresh, 'Q4711Z'])
        assert.ok(!text.includes(secret), `${list} shows ${secret}`)
    }
  }

  const hour = 3_600_000
  const inAnHour = Math.floor(Date.now() / 1000) + 3600
  const expiries: [string, Answer, number | undefined][] = [
    ['expires_in as a number', json({ ...tokens, expires_in: 3600 }), hour],
    ['expires_in as a text', json({ ...tokens, expires_in: '3600' }), hour],
    ['expires_in with a fraction', json({ ...tokens, expires_in: ' 3600.5 ' }), hour],
    ['expires_at in seconds', json({ ...tokens, expires_at: inAnHour }), hour],
    ['expires_at in milliseconds', json({ ...tokens, expires_at: inAnHour * 1000 }), hour],
    ['expires_at as a text of digits', json({ ...tokens, expires_at: String(inAnHour) }), hour],
    ['expires_at as a date', json({ ...tokens, expires_at: new Date(inAnHour * 1000).toISOString() }), hour],
    ['expires as a lifetime', json({ ...tokens, expires: 3600 }), hour],
    ['expires as a time', json({ ...tokens, expires: inAnHour }), hour],
    [
      'expires as a date of HTTP',
      json({ ...tokens, expires: new Date(inAnHour * 1000).toUTCString() }),
      hour,
    ],
    [
      'expires_in before the others',
      json({ ...tokens, expires_in: 3600, expires_at: 1e10, expires: 9 }),
      hour,
    ],
    [
      'an unreadable expires_in beside expires_at',
      json({ ...tokens, expires_in: 'soon', expires_at: inAnHour }),
      hour,
    ],
    ['no end', json(tokens), undefined],
    ['null', json({ ...tokens, expires_in: null, expires_at: null }), undefined],
    ['a negative lifetime', json({ ...tokens, expires_in: -1 }), undefined],
    ['an endless lifetime', json({ ...tokens, expires_in: 1e300 }), undefined],
    ['a text', json({ ...tokens, expires_in: 'never', expires: 'never' }), undefined],
    [
      'a form, by its content type',
      {
        type: 'application/x-www-form-urlencoded; charset=utf-8',
        body: `${new URLSearchParams({ ...tokens, expires_in: '3600' })}`,
      },
      hour,
    ],
    [
      'a form as plain text',
      { type: 'text/plain', body: `${new URLSearchParams({ ...tokens, expires: '3600' })}` },
      hour,
    ],
    ['a form said to be JSON', { body: `${new URLSearchParams({ ...tokens, expires_in: '3600' })}\n` }, hour],
    [
      'JSON said to be a form',
      { type: 'application/x-www-form-urlencoded', body: JSON.stringify({ ...tokens, expires_in: 3600 }) },
      hour,
    ],
    [
      'JSON said to be a page',
      { type: 'text/html', body: JSON.stringify({ ...tokens, expires_in: 3600 }) },
      hour,
    ],
    ['a null error beside a token', json({ ...tokens, error: null, expires_in: 3600 }), hour],
  ]
  for (const [name, answer, lifetime] of expiries) {
    it(`are read: ${name}`, async () => {
      const response = await connect(answer)
      assert.equal(response.status, 200, await response.text())
      const { expires_at: at, ...credentials } = await stored()
      assert.deepEqual(credentials, tokens)
      if (lifetime === undefined) assert.equal(at, undefined)
      else assert.ok(Math.abs(at - Date.now() - lifetime) < 900_000, String(at))
    })
  }

  it('keep the old refresh token when they name none', async () => {
    for (const token of [undefined, null, '']) {
      await connect(json({ ...tokens, expires_in: 1 }))
      provider.answer(json({ access_token: access, refresh_token: token, expires_in: 1 }))
      assert.equal(await (await fetch(`${endpoint}/token`)).text(), access)
      assert.equal((await stored()).refresh_token, refresh)
    }
  })

  const page = '<html><body>access_token=xoxb-ACCESS-Q4711Z</body></html>'
  /** What becomes of the connection, and its error. `later`: each use asks again. */
  const refusals: [string, Answer, 'ended' | 'refused' | 'later', string?][] = [
    [
      'invalid_grant',
      json({ error: 'invalid_grant', error_description: access }, 400),
      'ended',
      'invalid_grant',
    ],
    ['invalid_token', json({ error: 'invalid_token' }, 401), 'ended', 'invalid_token'],
    ['invalid_grant with 403', json({ error: 'invalid_grant' }, 403), 'ended', 'invalid_grant'],
    ['invalid_grant with 500', json({ error: 'invalid_grant' }, 500), 'ended', 'invalid_grant'],
    ['invalid_grant with 200', json({ ok: false, error: 'invalid_grant' }), 'ended', 'invalid_grant'],
    ['invalid_auth with 200', json({ ok: false, error: 'invalid_auth' }), 'ended', 'invalid_auth'],
    [
      'an error object',
      json({ error: { message: access, type: 'OAuthException', code: 190 } }, 400),
      'ended',
      'OAuthException',
    ],
    ['an error object with 200', json({ error: { code: 'invalid_grant' } }), 'ended', 'invalid_grant'],
    ['a list of errors', json({ errors: [{ errorType: 'invalid_grant' }] }, 401), 'ended', 'status 401'],
    [
      'a form',
      { status: 400, type: 'application/x-www-form-urlencoded', body: `error=invalid_grant&x=${access}` },
      'ended',
      'invalid_grant',
    ],
    [
      'a form with 200',
      { type: 'text/plain', body: 'error=bad_refresh_token' },
      'ended',
      'bad_refresh_token',
    ],
    [
      'WWW-Authenticate',
      { status: 401, body: '', headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
      'ended',
      'invalid_token',
    ],
    ['400 without a body', { status: 400, body: '' }, 'ended', 'status 400'],
    ['401 with a page', { status: 401, type: 'text/html', body: page }, 'ended', 'status 401'],
    ['400 with a token as its error', json({ error: access }, 400), 'ended', 'status 400'],
    ['invalid_client', json({ error: 'invalid_client' }, 401), 'refused', 'invalid_client'],
    ['unauthorized_client', json({ error: 'unauthorized_client' }, 400), 'refused', 'unauthorized_client'],
    ['403 with a page', { status: 403, type: 'text/html', body: page }, 'refused', 'status 403'],
    ['404', { status: 404, body: page }, 'refused', 'status 404'],
    ['temporarily_unavailable with 400', json({ error: 'temporarily_unavailable' }, 400), 'later'],
    ['ratelimited with 200', json({ ok: false, error: 'ratelimited' }), 'later'],
    ['429', { status: 429, body: access }, 'later'],
    ['503 with a page', { status: 503, type: 'text/html', body: page }, 'later'],
    ['200 with a page', { type: 'text/html', body: page }, 'later'],
    ['200 without a token', json({ refresh_token: refresh }), 'later'],
    ['200 with an empty token', json({ access_token: '' }), 'later'],
    ['a list', json([access]), 'later'],
    ['a text that is not JSON', { body: `{access_token: ${access}` }, 'later'],
  ]
  for (const [name, answer, consequence, error] of refusals) {
    it(`are refused: ${name}`, async () => {
      assert.equal((await connect(json({ ...tokens, expires_in: 1 }))).status, 200)
      provider.answer(answer)
      const before = provider.asked()
      const uses = consequence === 'later' ? 1 : 5
      const first = await Promise.all([1, 2, 3].slice(0, uses).map(() => fetch(`${endpoint}/token`)))
      const rest: Response[] = []
      for (let n = first.length; n < uses; n++) rest.push(await fetch(`${endpoint}/token`))
      for (const response of [...first, ...rest]) {
        assert.equal(response.status, consequence === 'later' ? 500 : 401)
        assert.doesNotMatch(await response.text(), /Q4711Z/)
      }
      const { state, lastError } = await connection()
      assert.deepEqual(
        [state, lastError],
        consequence === 'later' ? ['connected', undefined] : ['broken', error],
      )
      if (consequence !== 'later') assert.equal(provider.asked() - before, 1, 'one request for 5 uses')
      assert.equal((await problems()).length, consequence === 'later' ? 0 : 1)
      await assertNoTokenInTexts()
      // Connected again, all is well.
      await connect(json({ ...tokens, expires_in: 3600 }))
      assert.equal(await (await fetch(`${endpoint}/token`)).text(), access)
      assert.equal((await connection()).state, 'connected')
      assert.deepEqual(await problems(), [])
    })
  }

  it('leak no token on the page or in the log when a code is refused', async () => {
    for (const [name, answer] of refusals) {
      const response = await connect(answer)
      assert.notEqual(response.status, 200, name)
      assert.doesNotMatch(await response.text(), /Q4711Z/, name)
    }
    await assertNoTokenInTexts()
    const { text } = await annex.api('GET', '/v1/logs?limit=100')
    assert.match(text, /The provider answered 400 to the token request: invalid_grant/)
  })
})
