// biome-ignore-all format: scripts and tables are read by the line

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { bundleScript, createGuest, createPlatform, type Message, type Serve } from './guest.ts'

const platform = await createPlatform()
const endpoint = 'http://annex.test/i/inst_1'
const environment = {
  apiEndpoint: 'http://annex.test',
  apiTokens: { integration: 'token-of-integration', installation: 'token-of-installation' },
  integration: { name: 'demo', version: 1, title: 'Demo', scopes: [], urls: { publicEndpoint: endpoint }, externalLinks: [] },
  installation: { id: 'inst_1', status: 'active', configuration: { kept: 1 }, externalIds: [], urls: { publicEndpoint: endpoint } },
  secrets: { KEY: 'k' },
  signingSecrets: { integration: 's' },
}

/** Bundles `definition` with the SDK, runs one dispatch, and returns its answer and what was logged. */
const dispatch = async (
  definition: string,
  message: Message,
  serve: Serve = {},
  before = '',
) => {
  const script = await bundleScript(`import * as sdk from '@annex/runtime'
    const { createIntegration, createComponent, createContentSource, createOAuthHandler, getOAuthToken, ExposableError, Logger, ApiError } = sdk
    ${before}
    export default createIntegration(${definition})`)
  const guest = createGuest({ platform, mode: 'snapshot', script, serve })
  const answer = await guest.dispatch({ environment, ...message })
  await guest.done(1)
  const { logs, posts, failures } = guest
  guest.close()
  assert.deepEqual(failures, [])
  return { ...answer, logs, posts, status: answer.result.kind === 'response' ? answer.result.head.status : 0 }
}

const fetchOf = (url: string, method = 'GET') => ({
  event: { type: 'fetch' },
  request: { method, url, headers: [] as [string, string][] },
})
const headerOf = ({ result }: { result: { kind: string; head?: { headers: [string, string][] } } }, name: string) =>
  result.head?.headers.find(([key]) => key === name)?.[1]

describe('createIntegration', () => {
  const reference = `{ async fetch(request) {
    if (request.method !== 'POST') return new Response('Method not allowed', { status: 405 })
    return new Response(JSON.stringify({ received: true }), { headers: { 'Content-Type': 'application/json' } }) } }`

  test('the reference handler answers POST with 200 and JSON', async () => {
    const answer = await dispatch(reference, fetchOf(endpoint, 'POST'))
    assert.deepEqual([answer.status, answer.text, headerOf(answer, 'content-type')], [200, '{"received":true}', 'application/json'])
  })

  test('the reference handler answers any other method with 405 and text', async () => {
    const answer = await dispatch(reference, fetchOf(endpoint, 'DELETE'))
    assert.deepEqual([answer.status, answer.text], [405, 'Method not allowed'])
  })

  test('installation_setup also gets the setup of a site or space without its own handler', async () => {
    const tell = '(event, { environment }) => console.log(event.type, event.siteId ?? event.spaceId, environment.siteInstallation?.site)'
    const environmentOfSite = {
      ...environment,
      siteInstallation: { site: 'site_1', status: 'pending', configuration: {}, urls: { publicEndpoint: `${endpoint}/sites/site_1` } },
    }
    const logged = async (events: string, event: { type: string; [field: string]: unknown }) => {
      const answer = await dispatch(`{ events: { ${events} } }`, { event, environment: environmentOfSite })
      return [answer.status, ...answer.logs.map(({ text }) => text)]
    }
    const inSite = { type: 'site_installation_setup', siteId: 'site_1' }
    const inSpace = { type: 'space_installation_setup', spaceId: 'space_1' }
    assert.deepEqual(await logged(`installation_setup: ${tell}`, inSite), [0, 'installation_setup site_1 site_1'])
    assert.deepEqual(await logged(`installation_setup: [${tell}]`, inSpace), [0, 'installation_setup space_1 site_1'])
    const own = `installation_setup: () => console.log('not this one'), site_installation_setup: ${tell}`
    assert.deepEqual(await logged(own, inSite), [0, 'site_installation_setup site_1 site_1'])
    assert.deepEqual(await logged(`installation_setup: ${tell}`, { type: 'site_installation_deleted' }), [406])
    assert.deepEqual(await logged(`space_installation_setup: ${tell}`, inSite), [406])
  })

  test('a missing fetch handler is 400, and any other missing handler is 406', async () => {
    assert.equal((await dispatch('{}', fetchOf(endpoint))).status, 400)
    for (const type of ['site_view', 'task', 'fetch_published_script', 'fetch_visitor_authentication', 'constructor', '__proto__']) {
      assert.equal((await dispatch('{ events: {} }', { event: { type } })).status, 406, type)
    }
  })

  test('event handlers of a list run in parallel to their ends, and the first error counts', async () => {
    const before = `const seen = []; const wait = (ms) => new Promise((r) => setTimeout(r, ms))`
    const both = await dispatch(
      `{ events: { site_view: [async (e) => { await wait(20); console.log('a', e.siteId) }, async () => { await wait(1); console.log('b') }] } }`,
      { event: { type: 'site_view', siteId: 'site_1' } },
      {},
      before,
    )
    assert.deepEqual(both.result, { kind: 'none' })
    assert.deepEqual(both.logs.map(({ text }) => text), ['b', 'a site_1'])
    const failing = await dispatch(
      `{ events: { site_view: [() => { throw new RangeError('first') }, async () => { await wait(5); console.log('ran') }] } }`,
      { event: { type: 'site_view' } },
      {},
      before,
    )
    assert.equal(failing.result.kind === 'error' && failing.result.error.name, 'RangeError')
    assert.equal(failing.logs[0]?.text, 'ran')
  })

  test('an undefined published script is an empty script', async () => {
    const answer = await dispatch('{ fetch_published_script() {} }', { event: { type: 'fetch_published_script' } })
    assert.deepEqual([answer.status, headerOf(answer, 'content-type')], [200, 'application/javascript'])
  })

  test('a task handler gets the queued task', async () => {
    const answer = await dispatch(`{ task: (task, context) => console.log(task.n, context.environment.secrets.KEY) }`, {
      event: { type: 'task', task: { n: 5 } },
    })
    assert.deepEqual([answer.result, answer.logs[0]?.text], [{ kind: 'none' }, '5 k'])
  })

  test('an ExposableError exposes its code, and another error does not', async () => {
    const thrown = async (code: string) => {
      const { result } = await dispatch(`{ fetch() { throw ${code} } }`, fetchOf(endpoint))
      return result.kind === 'error' ? result.error : assert.fail()
    }
    const shown = await thrown(`new ExposableError('not yours', 403)`)
    assert.deepEqual([shown.name, shown.message, shown.exposeCode], ['ExposableError', 'not yours', 403])
    assert.match(shown.stack ?? '', /annex:script/)
    assert.equal((await thrown(`new ExposableError('m')`)).exposeCode, 400)
    assert.equal((await thrown(`new Error('hidden')`)).exposeCode, undefined)
  })

  test('a handler that is not a function is refused at load', async () => {
    await assert.rejects(dispatch('{ fetch: 5 }', {}), /"fetch" of createIntegration is a function/)
    await assert.rejects(dispatch('{ events: { site_view: [5] } }', {}), /"events.site_view"/)
    await assert.rejects(dispatch('{ components: {} }', {}), /"components" of createIntegration is a list/)
  })

  test('Logger prefixes its lines', async () => {
    const answer = await dispatch(`{ fetch() { const log = Logger('demo'); log.info('a'); log.debug('b'); log.error('c', { d: 1 }); return new Response() } }`, fetchOf(endpoint))
    assert.deepEqual(answer.logs.map(({ level, text, dispatch }) => [level, text, dispatch]), [
      ['info', '[demo] a', 1],
      ['debug', '[demo] b', 1],
      ['error', '[demo] c { d: 1 }', 1],
    ])
  })
})

describe('the context:', () => {
  const calls: unknown[] = []
  const serve: Serve = {
    delivery: (args) => {
      calls.push(args)
      return { value: { id: 'dlv_1', created: true } }
    },
    task: (args) => {
      calls.push(args)
      return { value: null }
    },
  }

  test('a copy is complete, and its functions work without it', async () => {
    const { text } = await dispatch(
      `{ async fetch(request, context) {
        const copy = { ...context, environment: { ...context.environment, added: true } }
        const { waitUntil, integration: { queueTask } } = copy
        waitUntil(Promise.resolve())
        await queueTask({ task: { a: 1 } })
        return Response.json([Object.keys(context), copy.environment.secrets.KEY, copy.api === context.api, copy.integration === context.integration,
          context.integration.api === context.integration.api, context.integration.api !== context.api, new Proxy(context, {}).environment.secrets.KEY])
      } }`,
      fetchOf(endpoint),
      serve,
    )
    assert.deepEqual(JSON.parse(text ?? ''), [['waitUntil', 'environment', 'api', 'integration', 'storage'], 'k', true, true, true, true, 'k'])
  })

  test('all contexts share the same getters', async () => {
    const script = await bundleScript(`import { createIntegration } from '@annex/runtime'
      const seen = []
      export default createIntegration({ fetch(request, context) {
        seen.push(context)
        const getters = seen.map((one) => Object.values(Object.getOwnPropertyDescriptors(one)).map(({ get }) => get))
        return Response.json(getters.every((list) => list.every((get, at) => get === getters[0][at])) && seen[0].environment !== context.environment)
      } })`)
    const guest = createGuest({ platform, mode: 'snapshot', script })
    await guest.dispatch({ environment, ...fetchOf(endpoint) })
    const { text } = await guest.dispatch({ environment, ...fetchOf(endpoint) })
    guest.close()
    assert.equal(text, 'true')
  })

  test('queueDelivery and queueTask make host calls', async () => {
    calls.length = 0
    const event = `{ type: 'site_view', eventId: 'evt_1' }`
    const answer = await dispatch(
      `{ async fetch(request, { integration }) { await integration.queueTask({ task: { a: 1 }, schedule: 60 })
        return Response.json(await integration.queueDelivery({ url: new URL('https://r.example/hook'), event: ${event} })) } }`,
      fetchOf(endpoint),
      serve,
    )
    assert.equal(answer.text, '{"id":"dlv_1","created":true}')
    assert.deepEqual(calls, [
      { task: { a: 1 }, schedule: 60 },
      { url: 'https://r.example/hook', event: { type: 'site_view', eventId: 'evt_1' } },
    ])
  })

  test('a schedule other than 0 to 86400 whole seconds is refused without a host call', async () => {
    calls.length = 0
    for (const schedule of ['-1', '86401', '0.5', 'NaN']) {
      const { result } = await dispatch(`{ fetch: (r, c) => c.integration.queueTask({ task: {}, schedule: ${schedule} }) }`, fetchOf(endpoint), serve)
      assert.equal(result.kind === 'error' && result.error.name, 'RangeError')
    }
    assert.deepEqual(calls, [])
  })

  type FetchArgs = { method: string; url: string; headers: [string, string][] }
  const api = (status: number, body: unknown): Serve => ({
    fetch: (args: FetchArgs, bytes) => {
      calls.push([args.method, args.url, args.headers.find(([name]) => name === 'authorization')?.[1], new TextDecoder().decode(bytes)])
      return {
        value: { status, headers: [['content-type', 'application/json']], url: args.url },
        bytes: new TextEncoder().encode(JSON.stringify(body)).buffer,
      }
    },
  })

  test('each API client has its endpoint, its token and the name of the integration', async () => {
    const shown = '({ endpoint, authToken, userAgent }) => [endpoint, authToken, userAgent]'
    const answer = await dispatch(
      `{ async fetch(request, { api, integration }) {
        const shown = ${shown}
        const other = await api.createInstallationClient('demo', 'inst_2')
        return Response.json([shown(api), shown(integration.api), shown(other)]) } }`,
      fetchOf(endpoint),
      api(200, { token: 'token-of-another' }),
    )
    const name = 'integration-demo/1'
    assert.deepEqual(JSON.parse(answer.text), [
      ['http://annex.test', 'token-of-installation', name],
      ['http://annex.test', 'token-of-integration', name],
      ['http://annex.test', 'token-of-another', name],
    ])
  })

  test('the API client calls the routes with the right token, ids encoded', async () => {
    calls.length = 0
    const answer = await dispatch(
      `{ async fetch(request, { api, integration }) {
        await api.spaces.getCurrentRevision('space_1', { format: 'markdown', x: undefined })
        await integration.api.integrations.updateIntegrationSiteInstallation('demo', 'inst_1', 'a/../b', { configuration: { c: 1 } })
        const { data, status } = await api.request({ method: 'POST', path: '/orgs/o/ask', body: { q: 1 }, query: { a: ['1', '2'] } })
        return Response.json([data, status]) } }`,
      fetchOf(endpoint),
      api(200, { ok: 1 }),
    )
    assert.equal(answer.text, '[{"ok":1},200]')
    assert.deepEqual(calls, [
      ['GET', 'http://annex.test/v1/spaces/space_1/content?format=markdown', 'Bearer token-of-installation', ''],
      ['PATCH', 'http://annex.test/v1/integrations/demo/installations/inst_1/sites/a%2F..%2Fb', 'Bearer token-of-integration', '{"configuration":{"c":1}}'],
      ['POST', 'http://annex.test/v1/orgs/o/ask?a=1&a=2', 'Bearer token-of-installation', '{"q":1}'],
    ])
  })

  test('the API client has the methods that scripts of the other platform use', async () => {
    calls.length = 0
    const answer = await dispatch(
      `{ async fetch(request, { integration: { api } }) {
        const own = await api.createInstallationClient('demo', 'inst_2')
        await own.urls.getContentByUrl({ url: 'https://docs.example.com/a b' })
        await own.orgs.askInOrganization('o', { query: 'why' }, { format: 'markdown' })
        const { oauth_credentials: { access_token } } = sdk.defaultOAuthExtractCredentials({ access_token: 'at' }).configuration
        return new Response(access_token) } }`,
      fetchOf(endpoint),
      api(200, { token: 'of inst_2' }),
    )
    assert.equal(answer.text, 'at')
    assert.deepEqual(calls, [
      ['POST', 'http://annex.test/v1/integrations/demo/installations/inst_2/tokens', 'Bearer token-of-integration', ''],
      ['GET', 'http://annex.test/v1/urls/content?url=https%3A%2F%2Fdocs.example.com%2Fa+b', 'Bearer of inst_2', ''],
      ['POST', 'http://annex.test/v1/orgs/o/ask?format=markdown', 'Bearer of inst_2', '{"query":"why"}'],
    ])
  })

  test('a streamed answer has parts of JSON', async () => {
    const text = ': hello\n\nevent: part\ndata: {"answer":\ndata: "föo"}\n\ndata:{"done":true}\r\n\r\ndata: cut off'
    const answer = await dispatch(
      `{ async fetch(request, { api }) {
        const parts = []
        for await (const part of api.orgs.streamAskInOrganization('o', { question: 'why' })) parts.push(part)
        return Response.json(parts) } }`,
      fetchOf(endpoint),
      { fetch: (args: { url: string }) => ({
        value: { status: 200, headers: [['content-type', 'text/event-stream']], url: args.url },
        bytes: new TextEncoder().encode(text).buffer,
      }) },
    )
    assert.equal(answer.text, '[{"answer":"föo"},{"done":true}]')
  })

  test('an error answer rejects with status, code and the server’s message', async () => {
    const answer = await dispatch(
      `{ async fetch(r, { api }) { try { await api.spaces.getSpaceById('s') } catch (e) { return Response.json([e instanceof ApiError, e.status, e.code, e.errorCode, e.message]) } } }`,
      fetchOf(endpoint),
      api(403, { error: { code: 'missing_scope', message: 'space:metadata:read is missing' } }),
    )
    assert.equal(answer.text, '[true,403,403,"missing_scope","space:metadata:read is missing"]')
  })
})

describe('components:', () => {
  const components = `{ components: [createComponent({ componentId: 'counter',
    initialState: (props, renderContext) => ({ count: props.start ?? 0, where: renderContext.type }),
    action: async (element, action) => action.action === 'add' ? { state: { ...element.state, count: element.state.count + 1 } }
      : action.action === 'finish' ? { type: 'complete', returnValue: { n: element.state.count } } : undefined,
    render: async (element) => { element.setCache({ maxAge: 60 }); return <block><text style="bold">{element.state.count}{null}{false}</text>
      <textinput state="q" initialValue={element.dynamicState('count')} />{[1, 2].map((n) => <divider size={n} />)}</block> } })] }`
  const render = (fields: object) => dispatch(components, { event: { type: 'ui_render', componentId: 'counter', ...fields } })

  test('a component renders with its initial state, flattened children and a cache header', async () => {
    const answer = await render({ props: { start: 2 }, context: { type: 'document' } })
    assert.equal(headerOf(answer, 'cache-control'), 'max-age=60')
    assert.deepEqual(JSON.parse(answer.text), {
      type: 'element',
      state: { count: 2, where: 'document' },
      props: { start: 2 },
      element: {
        type: 'block',
        children: [
          { type: 'text', style: 'bold', children: [2, false] },
          { type: 'textinput', state: 'q', initialValue: { $state: 'count' } },
          { type: 'divider', size: 1 },
          { type: 'divider', size: 2 },
        ],
      },
    })
  })

  test('a component acts and completes', async () => {
    const acted = JSON.parse((await render({ state: { count: 5 }, action: { action: 'add' } })).text)
    assert.deepEqual([acted.state, acted.element.children[0].children[0]], [{ count: 6 }, 6])
    const other = JSON.parse((await render({ state: { count: 5 }, action: { action: '@ui.modal.close' } })).text)
    assert.deepEqual(other.state, { count: 5 })
    const finished = await render({ state: { count: 5 }, action: { action: 'finish' } })
    assert.deepEqual(JSON.parse(finished.text), { type: 'complete', returnValue: { n: 5 } })
  })

  test('an unknown component is a 404', async () => {
    assert.equal((await render({ componentId: 'other' })).status, 404)
  })

  test('content sources answer with JSON, and 404 for an unknown name', async () => {
    const sources = `{ contentSources: [createContentSource({ sourceId: 's', getRevision: ({ props, dependencies }) => ({ pages: [props.p, dependencies.d] }), getPageDocument: async ({ props }) => ({ d: props.p }) })] }`
    const compute = (event: { type: string; [field: string]: unknown }) => dispatch(sources, { event })
    const input = { sourceId: 's', props: { p: 1 }, dependencies: { d: 2 } }
    const revision = await compute({ type: 'content_compute_revision', ...input })
    assert.deepEqual([revision.status, JSON.parse(revision.text)], [200, { pages: [1, 2] }])
    const document = await compute({ type: 'content_compute_document', ...input })
    assert.deepEqual(JSON.parse(document.text), { document: { d: 1 } })
    assert.equal((await compute({ type: 'content_compute_revision', sourceId: 'x' })).status, 404)
  })
})

describe('scripts and sign-ins of a site', () => {
  const askFor = (definition: string, type: string) => dispatch(definition, { event: { type, siteId: 'site_1' } })

  test('are answered by a handler with their name, also among the events', async () => {
    for (const type of ['fetch_published_script', 'fetch_visitor_authentication']) {
      const handler = `${type}: async (event) => new Response(event.siteId)`
      for (const definition of [`{ ${handler} }`, `{ events: { ${handler} } }`]) {
        assert.equal((await askFor(definition, type)).text, 'site_1', definition)
      }
      assert.equal((await askFor('{}', type)).status, 406)
    }
  })
})

describe('OAuth:', () => {
  const sent: { method: string; url: string; body: string }[] = []
  const serve = (token: object): Serve => ({
    fetch: (args: { method: string; url: string }, bytes) => {
      sent.push({ method: args.method, url: args.url, body: new TextDecoder().decode(bytes) })
      const answer = args.url.includes('provider') ? token : { id: 'inst_1', configuration: { kept: 1 } }
      return {
        value: { status: 200, headers: [['content-type', 'application/json']] },
        bytes: new TextEncoder().encode(JSON.stringify(answer)).buffer,
      }
    },
  })
  const config = `{ clientId: 'id', clientSecret: 'shh', authorizeURL: () => 'https://provider.test/authorize?x=1', accessTokenURL: 'https://provider.test/token', scopes: ['a', 'b'], prompt: 'consent' }`
  const handler = (options = '{}') => `{ fetch: createOAuthHandler(${config}, ${options}) }`

  test('a request without a code is redirected to the provider, with a fixed redirect address', async () => {
    const answer = await dispatch(handler(), {
      ...fetchOf(`${endpoint}/oauth`),
      environment: { ...environment, integration: { ...environment.integration, urls: { publicEndpoint: endpoint, integrationEndpoint: 'http://annex.test/n/demo' } }, siteInstallation: { site: 'site_1', status: 'pending', configuration: {}, urls: { publicEndpoint: `${endpoint}/sites/site_1` } } },
    })
    const location = new URL(headerOf(answer, 'location') ?? '')
    assert.equal(answer.status, 302)
    assert.equal(`${location.origin}${location.pathname}`, 'https://provider.test/authorize')
    const { state, ...parameters } = Object.fromEntries(location.searchParams)
    assert.equal(state, 'annex:connection:{}')
    assert.deepEqual(parameters, {
      x: '1',
      client_id: 'id',
      redirect_uri: 'http://annex.test/n/demo/oauth',
      response_type: 'code',
      scope: 'a b',
      prompt: 'consent',
    })
  })

  test('PKCE sends a challenge, and keeps the verifier in the state', async () => {
    const withPkce = `{ fetch: createOAuthHandler({ ...${config}, pkce: true }) }`
    const started = await dispatch(withPkce, { ...fetchOf(`${endpoint}/oauth`), environment })
    const { searchParams } = new URL(headerOf(started, 'location') ?? '')
    const state = searchParams.get('state') ?? ''
    const { verifier } = JSON.parse(state.slice('annex:connection:'.length))
    assert.match(verifier, /^[\w-]{43}$/)
    assert.equal(searchParams.get('code_challenge'), createHash('sha256').update(verifier).digest('base64url'))
    sent.length = 0
    const back = `${endpoint}/oauth?code=c0de&state=${encodeURIComponent(state)}`
    await dispatch(withPkce, { ...fetchOf(back), environment }, serve({ access_token: 'at' }))
    const token = sent.find(({ url }) => url === 'https://provider.test/token')
    assert.equal(new URLSearchParams(token?.body).get('code_verifier'), verifier)
  })

  test('a request with a code stores tokens and account of its level, and closes the window', async () => {
    sent.length = 0
    const payload = Buffer.from(JSON.stringify({ sub: '1', email: 'zoë@example.com' })).toString('base64url')
    const answer = await dispatch(
      handler('{ replace: false }'),
      {
        ...fetchOf(`${endpoint}/sites/site_1/oauth?code=c0de&state=${encodeURIComponent('annex:connection:{}')}`),
        environment: { ...environment, siteInstallation: { site: 'site_1', status: 'pending', configuration: {}, urls: { publicEndpoint: `${endpoint}/sites/site_1` } } },
      },
      serve({ access_token: 'at', refresh_token: 'rt', id_token: `e30.${payload}.c2ln` }),
    )
    assert.match(answer.text, /window\.close\(\)/)
    const token = sent.find(({ url }) => url === 'https://provider.test/token')
    assert.equal(new URLSearchParams(token?.body).get('code'), 'c0de')
    assert.equal(new URLSearchParams(token?.body).get('grant_type'), 'authorization_code')
    const stored = sent.find(({ method }) => method === 'PATCH')
    assert.equal(stored?.url, 'http://annex.test/v1/integrations/demo/installations/inst_1/sites/site_1')
    assert.deepEqual(JSON.parse(stored?.body ?? ''), {
      configuration: { oauth_credentials: { access_token: 'at', refresh_token: 'rt' } },
      keep: 'all',
      connection: { callback: '/oauth', account: 'zoë@example.com' },
    })
  })

  test('a flow outside of an installation is answered with 400', async () => {
    const { installation: _, ...above } = environment
    for (const query of ['', '?code=x&state=annex:connection:{}']) {
      const answer = await dispatch(handler(), { ...fetchOf(endpoint + query), environment: above }, serve({}))
      assert.deepEqual([answer.status, answer.text], [400, 'A connection starts at the endpoint of an installation.'])
    }
  })

  test('a refusal, a foreign state and another issuer are 400', async () => {
    const state = encodeURIComponent('annex:connection:{}')
    for (const [url, given] of [
      [`${endpoint}?error=access_denied`, environment],
      [`${endpoint}?code=x&state=nonsense`, environment],
      [`${endpoint}?code=x&state=${encodeURIComponent('{"installationId":"inst_1"}')}`, environment],
      [`${endpoint}?code=x&state=${state}&iss=https://evil.test`, environment],
      [`${endpoint}?code=x`, environment],
    ] as const) {
      const { result } = await dispatch(handler(), { ...fetchOf(url), environment: given }, serve({}))
      assert.equal(result.kind === 'error' && result.error.exposeCode, 400, url)
    }
  })

  test('getOAuthToken refreshes a token only in its last 10 seconds', async () => {
    const get = async (left: number) => {
      sent.length = 0
      const credentials = `{ access_token: 'old', refresh_token: 'rt', expires_at: Date.now() + ${left} }`
      const answer = await dispatch(
        `{ fetch: async (r, c) => new Response(await getOAuthToken(${credentials}, ${config}, c)) }`,
        fetchOf(endpoint),
        serve({ access_token: 'new', expires_in: 3600 }),
      )
      return answer.text
    }
    assert.equal(await get(60_000), 'old')
    assert.equal(sent.length, 0)
    assert.equal(await get(5_000), 'new')
    const asked = sent.filter(({ url }) => url === 'https://provider.test/token')
    assert.deepEqual(asked.map(({ body }) => new URLSearchParams(body).get('grant_type')), ['refresh_token'])
    const [claimed, stored] = sent.filter(({ method }) => method === 'PATCH').map(({ body }) => JSON.parse(body))
    assert.deepEqual(claimed, { connection: { names: ['oauth_credentials'], step: 'claim' } })
    assert.equal(stored.keep, 'all')
    assert.equal(stored.configuration.oauth_credentials.refresh_token, 'rt')
  })
})
