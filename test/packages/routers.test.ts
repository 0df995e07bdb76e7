import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Annex, Json } from '../support/annex.ts'
import { startWithPackages } from './start-with-packages.ts'

const itty = `
import { createIntegration } from '@annex/runtime'
import { AutoRouter, cors, error, json, text, withContent, StatusError } from 'itty-router'

const { preflight, corsify } = cors({ origin: 'https://docs.example.com', allowMethods: ['GET', 'POST'] })
export default createIntegration({
  fetch: (request, context) => {
    const router = AutoRouter({
      base: new URL(context.environment.integration.urls.publicEndpoint).pathname,
      before: [preflight],
      // corsify of itty-router 6 forgets the status, in Node too.
      finally: [(response, request) => response.status === 200 ? corsify(response, request) : response],
    })
    router
      .get('/pages/:space/:page+', ({ params, query, space }) => ({ params, query, space }))
      .post('/pages', withContent, ({ content }) => json({ got: content }, { status: 201 }))
      .get('/text', () => text('plain ✓'))
      .get('/teapot', () => error(418, 'short and stout'))
      .get('/throws', () => { throw new StatusError(409, { conflict: true }) })
      .get('/breaks', () => { throw new Error('not for visitors') })
    return router.fetch(request, context)
  },
})`

const hono = `
import { createIntegration } from '@annex/runtime'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { getCookie, setCookie, setSignedCookie, getSignedCookie } from 'hono/cookie'
import { HTTPException } from 'hono/http-exception'
import { bearerAuth } from 'hono/bearer-auth'
import { sign, verify } from 'hono/jwt'
import { stream, streamSSE } from 'hono/streaming'
import { validator } from 'hono/validator'
import { html } from 'hono/html'
import { etag } from 'hono/etag'

const secret = 'a secret'
const create = (base) => {
  const app = new Hono().basePath(base)
  app.use('/api/*', cors(), etag())
  app.use('/private/*', bearerAuth({ token: 'letmein' }))
  app.get('/', (c) => c.html(html\`<h1>\${'<b>'}</h1>\`))
  app.get('/api/users/:id{[0-9]+}', (c) => c.json({ id: c.req.param('id'), all: c.req.queries('tag'), agent: c.req.header('x-agent') }))
  app.post('/form', async (c) => {
    const { name, file } = await c.req.parseBody()
    return c.json({ name, file: { name: file.name, size: file.size, text: await file.text() } }, 201)
  })
  app.post('/checked', validator('json', (value, c) => typeof value.n === 'number' ? value : c.text('no number', 400)), (c) => c.json(c.req.valid('json')))
  app.get('/cookies', async (c) => {
    setCookie(c, 'seen', 'yes', { path: '/', httpOnly: true })
    await setSignedCookie(c, 'who', 'ada', secret)
    return c.json({ seen: getCookie(c, 'seen') ?? null, who: (await getSignedCookie(c, secret, 'who')) ?? null })
  })
  app.get('/private/thing', (c) => c.text('inside'))
  app.get('/jwt', async (c) => c.json(await verify(await sign({ sub: 'ada' }, secret), secret, 'HS256')))
  app.get('/stream', (c) => stream(c, async (out) => { for (const part of ['one ', 'two ', 'three']) { await out.write(part); await out.sleep(1) } }))
  app.get('/events', (c) => streamSSE(c, async (out) => { for (const id of ['1', '2']) await out.writeSSE({ data: 'n' + id, event: 'count', id }) }))
  app.get('/forbidden', () => { throw new HTTPException(403, { message: 'not you' }) })
  app.get('/away', (c) => c.redirect('https://example.com/there', 303))
  app.notFound((c) => c.text('nothing at ' + c.req.path, 404))
  app.onError((error, c) => error instanceof HTTPException ? error.getResponse() : c.text('broken', 500))
  return app
}
let app
export default createIntegration({
  fetch: (request, context) => {
    app ??= create(new URL(context.environment.integration.urls.publicEndpoint).pathname)
    return app.fetch(request, context.environment, { waitUntil: (promise) => context.waitUntil(promise), passThroughOnException() {} })
  },
})`

type Case = {
  path: string
  init?: RequestInit
  status?: number
  body?: unknown
  text?: string | RegExp
  headers?: Record<string, string | RegExp>
}

const form = new FormData()
form.set('name', 'Ada')
form.set('file', new File(['héllo'], 'a file.txt', { type: 'text/plain' }))

const cases: Record<string, Case[]> = {
  itty: [
    {
      path: '/pages/s1/a/b?x=1&x=2&y=3',
      body: { params: { space: 's1', page: 'a/b' }, query: { x: ['1', '2'], y: '3' }, space: 's1' },
      headers: { 'content-type': /^application\/json/, 'access-control-allow-origin': /./ },
    },
    { path: '/pages', init: { method: 'POST', body: '{"a":[1]}' }, status: 201, body: { got: { a: [1] } } },
    { path: '/pages', init: { method: 'POST', body: 'no json' }, status: 201, body: { got: 'no json' } },
    {
      path: '/pages',
      init: { method: 'OPTIONS', headers: { origin: 'https://docs.example.com' } },
      status: 204,
      headers: {
        'access-control-allow-origin': 'https://docs.example.com',
        'access-control-allow-methods': 'GET,POST',
      },
    },
    { path: '/text', text: 'plain ✓', headers: { 'content-type': /^text\/plain/ } },
    { path: '/teapot', status: 418, body: { status: 418, error: 'short and stout' } },
    { path: '/throws', status: 409, body: { status: 409, error: 'Unknown Error', conflict: true } },
    { path: '/breaks', status: 500 },
    { path: '/nowhere', status: 404, body: { status: 404, error: 'Not Found' } },
  ],
  hono: [
    { path: '', text: '<h1>&lt;b&gt;</h1>', headers: { 'content-type': /^text\/html/ } },
    {
      path: '/api/users/42?tag=a&tag=b',
      init: { headers: { 'x-agent': 'me' } },
      body: { id: '42', all: ['a', 'b'], agent: 'me' },
      headers: { 'access-control-allow-origin': '*', etag: /^"[0-9a-f]{40}"$/ },
    },
    { path: '/api/users/x', status: 404, text: /^nothing at \/x\/hono\/api\/users\/x$/ },
    {
      path: '/form',
      init: { method: 'POST', body: form },
      status: 201,
      body: { name: 'Ada', file: { name: 'a file.txt', size: 6, text: 'héllo' } },
    },
    {
      path: '/checked',
      init: { method: 'POST', body: '{"n":1}', headers: { 'content-type': 'application/json' } },
      body: { n: 1 },
    },
    {
      path: '/checked',
      init: { method: 'POST', body: '{"n":"1"}', headers: { 'content-type': 'application/json' } },
      status: 400,
      text: 'no number',
    },
    {
      path: '/cookies',
      init: { headers: { cookie: 'seen=yes' } },
      body: { seen: 'yes', who: null },
      headers: { 'set-cookie': /seen=yes;.*who=ada\.[\w%]+/ },
    },
    { path: '/private/thing', status: 401 },
    { path: '/private/thing', init: { headers: { authorization: 'Bearer letmein' } }, text: 'inside' },
    { path: '/jwt', body: { sub: 'ada' } },
    { path: '/stream', text: 'one two three' },
    {
      path: '/events',
      text: 'event: count\ndata: n1\nid: 1\n\nevent: count\ndata: n2\nid: 2\n\n',
      headers: { 'content-type': /^text\/event-stream/ },
    },
    { path: '/forbidden', status: 403, text: 'not you' },
    {
      path: '/away',
      init: { redirect: 'manual' },
      status: 303,
      headers: { location: 'https://example.com/there' },
    },
    { path: '/nowhere', status: 404, text: /^nothing at/ },
  ],
}

describe('npm routers in a sandbox', () => {
  let annex: Annex
  before(async () => {
    annex = await startWithPackages({
      itty: { script: itty, packages: ['itty-router'] },
      hono: { script: hono, packages: ['hono'] },
    })
  })
  after(() => annex.close())

  for (const [name, requests] of Object.entries(cases)) {
    for (const { path, init, status = 200, body, text, headers = {} } of requests) {
      it(`${name}: ${init?.method ?? 'GET'} ${path === '' ? '/' : path} is ${status}`, async () => {
        const response = await fetch(`${annex.url}/x/${name}${path}`, init)
        const answered = await response.text()
        assert.equal(response.status, status, answered)
        if (body !== undefined) assert.deepEqual(JSON.parse(answered) as Json, body)
        if (typeof text === 'string') assert.equal(answered, text)
        if (text instanceof RegExp) assert.match(answered, text)
        for (const [header, expected] of Object.entries(headers)) {
          const value = response.headers.get(header) ?? ''
          if (typeof expected === 'string') assert.equal(value, expected, header)
          else assert.match(value, expected, header)
        }
      })
    }
  }
})
