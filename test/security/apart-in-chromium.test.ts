// tier: wall (a browser and 80 attacks use 30 s of CPU time)

// Each attack is one line, so that it reads as a table.
// biome-ignore-all format: an attack to a line
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'
import { skipWithoutChromium, startChromium } from '../support/chromium.ts'
import { type Front, startFront } from '../support/console-front.ts'

/** Answers what its query says: status, headers and body. */
const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request) => {
    const { searchParams } = new URL(request.url)
    const headers = new Headers({ 'content-type': 'text/html' })
    for (const [name, value] of searchParams) if (!['status', 'body'].includes(name)) name === 'set-cookie' ? headers.append(name, value) : headers.set(name, value)
    return new Response(searchParams.get('body') ?? '<!doctype html><title>evil</title><body>evil', { status: Number(searchParams.get('status') ?? 200), headers })
  },
})`

const skip = skipWithoutChromium('whole')

/** The error's name, where the attack throws. */
const attempt = (code: string) => `(async () => { try { ${code} } catch (error) { return error.name } })()`
const wait = `await new Promise((resolve) => setTimeout(resolve, 300));`
const form = (method: string, action: string) => `const form = document.body.appendChild(document.createElement('form')); form.method = '${method}'; form.action = '${action}'; form.submit(); return 'moves'`
const element = (name: string, attributes: string) => `const made = Object.assign(document.createElement('${name}'), ${attributes}); document.body.append(made); const event = await new Promise((resolve) => { made.onload = made.onerror = ({ type }) => resolve(type); setTimeout(resolve, 1000, 'silent') });`

/** What a page of an endpoint runs, and what comes of it. */
const attacks: [name: string, code: string, outcome: unknown][] = [
  ['its own URL origin', `return origin`, 'null'],
  ['fetch with cookies', `return (await fetch('/v1/me', { credentials: 'include' })).status`, 'TypeError'],
  ['fetch of the console', `return (await fetch('/orgs/home', { credentials: 'include' })).status`, 'TypeError'],
  ['fetch that changes something, unread', `return (await fetch('/v1/events', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' })).type`, 'opaque'],
  ['fetch in the name of the page', `return (await fetch('/v1/me', { mode: 'same-origin' })).status`, 'TypeError'],
  ['an old request with cookies', `const old = new XMLHttpRequest(); old.withCredentials = true; old.open('GET', '/v1/me', false); old.send(); return old.status`, 'NetworkError'],
  ['a beacon', `navigator.sendBeacon('/v1/events', '{}'); ${wait} return 'sent'`, 'sent'],
  ['an event stream', `const stream = new EventSource('/v1/deliveries', { withCredentials: true }); return new Promise((resolve) => { stream.onmessage = stream.onopen = () => resolve('read'); stream.onerror = () => resolve('refused') })`, 'refused'],
  ['a WebSocket', `const socket = new WebSocket('ws://' + location.host + '/v1/me'); return new Promise((resolve) => { socket.onopen = () => resolve('open'); socket.onerror = () => resolve('refused') })`, 'refused'],
  ['a form that changes something', form('post', '/v1/events'), 'moves'],
  ['a form that reads', form('get', '/v1/me'), 'moves'],
  ['navigation of itself to the API', `location = '/v1/me'; return 'moves'`, 'moves'],
  ['a frame of the console', `${element('iframe', "{ src: '/orgs/home' }")} return made.contentDocument`, null],
  ['a frame of the API', `${element('iframe', "{ src: '/v1/me' }")} return made.contentDocument`, null],
  ['an object of the console', `${element('object', "{ data: '/orgs/home' }")} return made.contentDocument`, null],
  ['an embed of the console', `${element('embed', "{ src: '/orgs/home' }")} return event`, 'load'],
  ['a script of the API', `${element('script', "{ src: '/v1/me' }")} return event`, 'error'],
  ['a service worker', `return (await navigator.serviceWorker.register('/x/evil/sw.js', { scope: '/x/evil' })).scope`, 'SecurityError'],
  ['a service worker for all paths', `return (await navigator.serviceWorker.register('/x/evil/sw.js', { scope: '/' })).scope`, 'SecurityError'],
  ['a worker', `return String(new Worker('/x/evil/worker.js'))`, 'SecurityError'],
  ['a shared worker', `return String(new SharedWorker('/x/evil/worker.js'))`, 'SecurityError'],
  ['a cookie read', `return document.cookie`, 'SecurityError'],
  ['a cookie set', `document.cookie = '__Host-annex_session=mine; Path=/; Secure'`, 'SecurityError'],
  ['the cookie store', `return await cookieStore.getAll()`, 'SecurityError'],
  ['local storage', `return localStorage.getItem('kept')`, 'SecurityError'],
  ['session storage', `return sessionStorage.length`, 'SecurityError'],
  ['a database', `return await new Promise((resolve, reject) => { const asked = indexedDB.open('annex'); asked.onsuccess = () => resolve('open'); asked.onerror = () => reject(asked.error) })`, 'SecurityError'],
  ['caches', `return await caches.keys()`, 'SecurityError'],
  ['locks', `return (await navigator.locks.query()).held.length`, 'SecurityError'],
  ['a channel to all tabs', `new BroadcastChannel('annex').postMessage('hello'); ${wait} return 'sent'`, 'sent'],
  ['its opener', `return window.opener`, null],
  ['a domain of its own choice', `document.domain = document.domain`, 'SecurityError'],
  // A browser lets each page show any path of its host (HTML standard, "can have its URL rewritten"). The page stays what it is.
  ['the address of the console in its history', `history.pushState(null, '', '/orgs/home'); return origin`, 'null'],
  ['a frame of its own under that address', `history.pushState(null, '', '/orgs/home'); ${element('iframe', "{ src: '/orgs/home' }")} return made.contentDocument`, null],
  ['the address of another host in its history', `history.pushState(null, '', 'https://elsewhere.example/')`, 'SecurityError'],
  ['a navigation by its interface', `navigation.navigate('/orgs/home', { history: 'replace' }); return 'moves'`, 'moves'],
  ['a script that it writes', `document.write('<script>document.title = origin</scr' + 'ipt>'); return document.title`, 'null'],
  ['a frame without an address', `const made = document.body.appendChild(document.createElement('iframe')); return made.contentWindow.origin + made.contentWindow.document.cookie`, 'SecurityError'],
  ['a frame of its own HTML', `${element('iframe', "{ srcdoc: '<script>parent.postMessage(origin, `*`)</script>' }")} return 'done'`, 'done'],
  ['a frame that asks for the origin', `const made = Object.assign(document.createElement('iframe'), { src: '/x/evil' }); made.sandbox = 'allow-scripts allow-same-origin'; document.body.append(made); ${wait} return made.contentDocument`, null],
  ['a blob of its own', `const made = Object.assign(document.createElement('iframe'), { src: URL.createObjectURL(new Blob(['<script>parent.postMessage(origin, "*")</script>'], { type: 'text/html' })) }); return new Promise((resolve) => { onmessage = ({ data }) => resolve(data); document.body.append(made) })`, 'null'],
  ['rules that load ahead', `document.head.append(Object.assign(document.createElement('script'), { type: 'speculationrules', textContent: JSON.stringify({ prefetch: [{ source: 'list', urls: ['/v1/me', '/orgs/home'], eagerness: 'immediate' }], prerender: [{ source: 'list', urls: ['/orgs/home'], eagerness: 'immediate' }] }) })); ${wait} return 'done'`, 'done'],
  ...['prefetch', 'preload', 'prerender', 'modulepreload', 'manifest', 'stylesheet'].map((rel): [string, string, unknown] => [`a link that is a ${rel}`, `document.head.append(Object.assign(document.createElement('link'), { rel: '${rel}', as: 'fetch', crossOrigin: 'use-credentials', href: '/v1/me' })); ${wait} return 'done'`, 'done']),
]

/** A page that the code has opened by a click, and what comes of it. */
const popups: [name: string, code: string, outcome: unknown][] = [
  ['the console', `const opened = open('/orgs/home', 'named'); opened.postMessage('hello', '*'); for (let n = 0; n < 100 && !opened.closed; n++) { ${wait} } opened.postMessage('hello', '*'); return opened.closed`, true],
  ['the API', `const opened = open('/v1/me'); ${wait} return opened.document.body.textContent`, 'SecurityError'],
  ['an empty page, outside its sandbox', `const opened = open('about:blank'); ${wait} return opened.origin + opened.document.cookie`, 'SecurityError'],
  ['a page of its own HTML', `const opened = open('about:blank'); opened.document.write('<script>opener.postMessage(origin, "*")</scr' + 'ipt>'); return 'written'`, 'SecurityError'],
  ['a page of a javascript address', `const opened = open('javascript:opener.postMessage(origin,"*")'); return await new Promise((resolve) => { onmessage = ({ data }) => resolve(data); setTimeout(resolve, 1000, 'silent') })`, 'null'],
  ['a page of a blob', `open(URL.createObjectURL(new Blob(['<script>opener.postMessage(origin, "*")</script>'], { type: 'text/html' }))); return await new Promise((resolve) => { onmessage = ({ data }) => resolve(data); setTimeout(resolve, 1000, 'silent') })`, 'null'],
  ['an endpoint', `const opened = open('/x/evil'); ${wait} return opened.document.title`, 'SecurityError'],
]

/** Headers of the script's answer to a navigation. */
const headers: [name: string, query: [string, string][]][] = [
  ['Clear-Site-Data', [['clear-site-data', '"*"']]],
  ['Refresh', [['refresh', '0; url=/v1/me']]],
  ['Link that preloads', [['link', '</v1/me>; rel=preload; as=fetch; crossorigin=use-credentials, </orgs/home>; rel=prefetch']]],
  ['Speculation-Rules', [['speculation-rules', '"/x/evil/rules.json"']]],
  ['Service-Worker-Allowed', [['service-worker-allowed', '/']]],
  ['a policy of its own', [['content-security-policy', 'sandbox allow-scripts allow-same-origin']]],
  ['an opener policy of its own', [['cross-origin-opener-policy', 'unsafe-none']]],
  ['reports', [['content-security-policy', "default-src 'none'; report-uri /v1/events"], ['body', '<img src=/a>']]],
  ['a session of its own', [['set-cookie', '__Host-annex_session=mine; Path=/; Secure; HttpOnly'], ['set-cookie', 'annex_session_8787=mine; Path=/']]],
  ['a session under the path', [['set-cookie', '__Host-annex_session=mine; Path=/orgs/home; Secure']]],
]

describe('a page of an endpoint, beside the console', { skip }, () => {
  let annex: Annex
  let front: Front
  let chromium: Browser
  let context: BrowserContext
  /** A person is signed in there all the time. */
  let tab: Page
  let session: string
  let page: Page
  before(async () => {
    annex = await startAnnex({ plugins: { evil: { script } }, flags: { RATE_LIMIT_VISITOR: '0' } })
    await installSample(annex, 'evil')
    front = await startFront(annex.url)
    chromium = await startChromium('whole')
    context = await chromium.newContext()
    tab = await context.newPage()
    await signIn()
    page = await context.newPage()
  })
  after(async () => {
    await chromium?.close()
    front?.close()
    await annex.close()
  })

  const evil = (query: [string, string][] = []) => `${front.url}/x/evil?${new URLSearchParams(query)}`

  async function signIn(): Promise<void> {
    await tab.goto(`${front.url}/sign-in`)
    await tab.locator('h1').waitFor()
    const body = JSON.stringify({ link: annex.server.setupUrl?.split('#')[1], email: 'olga@example.com', name: 'Olga', password: 'a sentence that is long' })
    const made = `(async () => { await fetch('/v1/sign-in'); return (await fetch('/v1/accounts', { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(body)} })).status })()`
    assert.equal(await tab.evaluate(made), 201)
    await tab.goto(`${front.url}/orgs/home`)
    await tab.locator('h1').waitFor()
    const hear = `heard = ''; addEventListener('message', () => { heard += 'message ' }); addEventListener('storage', () => { heard += 'storage ' }); new BroadcastChannel('annex').onmessage = () => { heard += 'channel ' }; localStorage.setItem('kept', 'by the console')`
    await tab.evaluate(`globalThis.${hear}`)
    const [cookie] = (await context.cookies()).filter(({ value }) => value.length > 20)
    assert.match(cookie?.name ?? '', /^__Host-annex_session_\d+$/)
    session = cookie?.value ?? ''
  }

  /** Runs an attack, and then checks that the console has neither heard nor lost anything. The last test checks what it has sent. */
  async function beside(attack: () => Promise<void>): Promise<void> {
    await attack()
    for (const opened of context.pages()) if (opened !== tab && opened !== page) await opened.close()
    const heard = await tab.evaluate(`[location.pathname, heard, localStorage.getItem('kept')]`)
    assert.deepEqual(heard, ['/orgs/home', '', 'by the console'])
    const cookies = (await context.cookies()).filter(({ name }) => /annex_session/.test(name) && !name.startsWith('x-'))
    assert.deepEqual(cookies.map(({ value, path }) => [value, path]), [[session, '/']])
  }

  for (const [name, code, outcome] of attacks) {
    it(`gets nothing by ${name}`, () => beside(async () => {
      await page.goto(evil())
      assert.deepEqual(await page.evaluate(attempt(code)), outcome)
      if (outcome === 'moves') await page.waitForURL(/\/(?:v1|orgs)\//)
    }))
  }

  for (const [name, code, outcome] of popups) {
    it(`gets nothing by a window with ${name}`, () => beside(async () => {
      await page.goto(evil())
      await page.evaluate(`document.onclick = () => { window.done = ${attempt(code)} }`)
      await page.mouse.click(5, 5)
      assert.deepEqual(await page.evaluate('window.done'), outcome)
    }))
  }

  for (const [name, query] of headers) {
    it(`gets nothing by ${name} in its head`, () => beside(async () => {
      await page.goto(evil(query))
      await page.waitForLoadState('networkidle')
    }))
  }

  it('cannot make the browser forget the session, by 1,000 cookies', () => beside(async () => {
    for (let n = 0; n < 10; n++) {
      const cookies = Array.from({ length: 100 }, (_, m): [string, string] => ['set-cookie', `c${n}-${m}=1; Secure; Priority=High; Max-Age=1000000`])
      await page.goto(evil([['n', String(n)], ...cookies]))
    }
    const kept = (await context.cookies()).filter(({ path }) => path === '/x/evil')
    assert.ok(kept.length > 100, `${kept.length}: the browser has forgotten others`)
    await context.clearCookies({ path: '/x/evil' })
  }))

  it('gets no cookie of the console at a host name of its own, and nothing else of Annex', () => beside(async () => {
    const [console, own] = [front.url.replace('127.0.0.1', 'localhost'), front.url.replace('127.0.0.1', 'evil.localhost')]
    await page.goto(`${console}/sign-in`)
    await page.evaluate(`fetch('/v1/sign-in')`)
    assert.ok((await context.cookies(console)).length > 0)
    await page.goto(`${own}/x/evil`)
    assert.equal(await page.title(), 'evil')
    await page.goto(`${own}/x/evil?${new URLSearchParams({ 'set-cookie': 'a=1' })}`)
    assert.equal((await page.goto(`${own}/v1/me`))?.status(), 404)
    await page.goto(`${own}/x/evil`)
    await page.evaluate(`history.pushState(null, '', '/sign-in')`)
    assert.equal(page.url(), `${own}/sign-in`)
    await page.goto(`${own}/x/evil`)
    assert.deepEqual([...new Set(front.sent.filter(({ host }) => host.startsWith('evil.localhost')).map(({ cookie }) => cookie))], ['', 'a=1'])
    await context.clearCookies({ domain: 'localhost' })
    await context.clearCookies({ domain: 'evil.localhost' })
  }))

  it('has its own script, style, picture and answers', () => beside(async () => {
    const own = (type: string, body: string) => evil([['content-type', type], ['access-control-allow-origin', '*'], ['body', body]]).replaceAll('&', '&amp;')
    const body = `<link rel="stylesheet" href="${own('text/css', 'body { color: rgb(1, 2, 3) }')}"><img src="${own('image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>')}">
      <script src="${own('text/javascript', 'document.title = "classic"')}"></script><script type="module" src="${own('text/javascript', 'document.title += " module"')}"></script>`
    await page.goto(evil([['body', body]]))
    await page.waitForLoadState('networkidle')
    const color = await page.evaluate('getComputedStyle(document.body).color + " " + document.images[0].naturalWidth')
    assert.deepEqual([await page.title(), color], ['classic module', 'rgb(1, 2, 3) 7'])
    const text = await page.evaluate(`fetch(${JSON.stringify(evil([['access-control-allow-origin', '*'], ['body', 'own']]))}).then((answer) => answer.text())`)
    assert.equal(text, 'own')
  }))

  it('leads the person to no answer of the API', () => beside(async () => {
    for (const status of [302, 307, 308]) {
      const answer = await page.goto(evil([['status', String(status)], ['location', '/v1/account']]))
      assert.deepEqual([answer?.status(), new URL(page.url()).pathname], [403, '/v1/account'])
    }
  }))

  it('is a file without a page, where it is a download', () => beside(async () => {
    await page.goto(evil())
    const download = page.waitForEvent('download')
    await page.goto(evil([['content-disposition', 'attachment; filename="console.html"']])).catch(() => {})
    assert.deepEqual([(await download).suggestedFilename(), page.url()], ['console.html', evil()])
  }))

  it('has sent no request with the session', async () => {
    await page.waitForLoadState('networkidle')
    assert.equal(await tab.evaluate(`fetch('/v1/account').then((answer) => answer.status)`), 200)
    const paths = new Set(front.sent.map(({ path }) => path))
    for (const path of ['/v1/me', '/v1/events', '/orgs/home']) assert.ok(paths.has(path), path)
    const strange = front.sent.filter(({ site, cookie }) => ['cross-site', 'same-site'].includes(site) && cookie.includes(session))
    assert.deepEqual(strange, [])
  })
})

// Over http to another machine a browser says nothing of what a request is for.
for (const [where, host] of [['on this machine', '127.0.0.1'], ['in a local network', 'annex.lan']] as const)
describe(`a page of the console ${where} with the markup of a stranger`, { skip }, () => {
  let annex: Annex
  let front: Front
  let chromium: Browser
  let page: Page
  before(async () => {
    annex = await startAnnex({ plugins: { evil: { script } }, flags: { RATE_LIMIT_VISITOR: '0' } })
    const started = await startFront(annex.url)
    front = { ...started, url: started.url.replace('127.0.0.1', host) }
    chromium = await startChromium('whole')
    page = await chromium.newPage()
  })
  after(async () => {
    await chromium?.close()
    front?.close()
    await annex.close()
  })

  let addresses = 0
  /** No two have the same address: a browser may have cached the first. */
  const answer = (type: string, body: string) => `/x/evil?${new URLSearchParams({ n: String(addresses++), 'content-type': type, 'cache-control': 'public, max-age=1000', 'access-control-allow-origin': '*', body })}`
  const stealing = () => answer('text/javascript', 'document.title = "stolen"')
  const styling = () => answer('text/css', 'body { color: rgb(1, 2, 3) }')
  const inMarkup = (address: string) => address.replaceAll('&', '&amp;')

  async function show(markup: string): Promise<void> {
    const address = `${front.url}/marked?${new URLSearchParams({ markup })}`
    await page.goto(address)
    await page.waitForLoadState('networkidle')
    const seen = await page.evaluate('[location.href, document.title, getComputedStyle(document.body).color]')
    assert.deepEqual(seen, [address, 'console', 'rgb(0, 0, 0)'])
  }

  const twice = stealing()
  const markups: [name: string, markup: string][] = [
    ['a script of an endpoint', `<script src="${inMarkup(stealing())}"></script>`],
    ['a module of an endpoint', `<script type="module" src="${inMarkup(stealing())}"></script>`],
    ['a module that is loaded ahead', `<link rel="modulepreload" href="${inMarkup(twice)}"><script type="module" src="${inMarkup(twice)}"></script>`],
    ['a script that is loaded ahead', `<link rel="preload" as="script" href="${inMarkup(twice)}"><script src="${inMarkup(twice)}"></script>`],
    ['a script that is fetched ahead', `<link rel="prefetch" href="${inMarkup(twice)}"><script src="${inMarkup(twice)}"></script>`],
    ['a style of an endpoint', `<link rel="stylesheet" href="${inMarkup(styling())}">`],
    ['a style of another style', `<style>@import url("${styling()}")</style>`],
    ['a script inside', `<script>document.title = 'stolen'</script>`],
    ['a handler', `<img src="data:," onerror="document.title = 'stolen'">`],
    ['a base', `<base href="/x/evil/"><script src="marked.js"></script>`],
    ['a frame of an endpoint', `<iframe src="${inMarkup(answer('text/html', '<script>top.document.title = "stolen"</script>'))}"></iframe>`],
    ['a frame that navigates the page', `<iframe src="${inMarkup(answer('text/html', '<script>top.location = "/x/evil"</script>'))}"></iframe>`],
    ['a frame that names the page', `<iframe src="${inMarkup(answer('text/html', '<script>top.name = "x"; open("/x/evil", "_top")</script>'))}"></iframe>`],
    ['a frame with a form for the page', `<iframe src="${inMarkup(answer('text/html', '<form target="_top" action="/v1/me"></form><script>document.forms[0].submit()</script>'))}"></iframe>`],
    ['an object of an endpoint', `<object data="${inMarkup(stealing())}"></object><embed src="${inMarkup(stealing())}">`],
    ['a worker by a script of the API', `<script src="/v1/logs"></script>`],
    ['a page that refreshes to a script', `<meta http-equiv="refresh" content="0; url=javascript:document.title='stolen'">`],
  ]
  for (const [name, markup] of markups) it(`runs and shows nothing of it: ${name}`, () => show(markup))

  it('runs and shows nothing of it when the browser has cached what is there', async () => {
    const addresses = [stealing(), styling()]
    for (const address of addresses) await page.goto(front.url + address)
    const [stolen = '', styled = ''] = addresses.map(inMarkup)
    const from = front.sent.length
    await page.goto(front.url + addresses[0])
    assert.deepEqual(front.sent.slice(from).filter(({ path }) => path.startsWith('/x/')), [], 'it is in the cache')
    await show(`<script src="${stolen}"></script><script type="module" src="${stolen}"></script><link rel="stylesheet" href="${styled}">`)
  })

  it('runs what is its own: the tests above would see it', async () => {
    await page.goto(`${front.url}/marked`)
    assert.equal(await page.evaluate('document.documentElement.dataset.ran'), 'own')
  })

  // Browsers heed Cross-Origin-Opener-Policy over https and on this machine alone.
  const skipElsewhere = host !== '127.0.0.1' && 'browsers keep the opener over http'
  it('gives no page that it opens a way back, by an opener or a name', { skip: skipElsewhere }, async () => {
    const context = await chromium.newContext()
    const own = await context.newPage()
    await own.goto(`${front.url}/marked?${new URLSearchParams({ markup: '<a href="/x/evil" target="other" rel="opener">open</a>' })}`)
    await own.evaluate(`name = 'console'`)
    const [opened] = await Promise.all([context.waitForEvent('page'), own.click('a')])
    await opened.waitForLoadState()
    assert.equal(await opened.evaluate('window.opener'), null)
    await opened.evaluate(`document.onclick = () => { window.found = open('', 'console') }`)
    const [found] = await Promise.all([context.waitForEvent('page'), opened.mouse.click(5, 5)])
    assert.deepEqual([found.url(), await own.title()], ['about:blank', 'console'])
    await context.close()
  })
})
