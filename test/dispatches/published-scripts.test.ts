import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'

/** What it answers is its setting. `made` counts its dispatches. */
const banner = `
import { createIntegration } from '@annex/runtime'
let made = 0
const answers = {
  nothing: () => undefined,
  error: () => { throw new Error('no banner') },
  html: () => new Response('<script>alert(1)</script>', { headers: { 'content-type': 'text/html' } }),
  list: () => new Response('1', { headers: { 'content-type': 'text/javascript, text/html' } }),
  redirect: () => Response.redirect('https://elsewhere.example'),
  huge: () => new Response('x'.repeat(600_000)),
  headers: () => new Response('1', { headers: {
    'content-type': 'text/javascript', 'set-cookie': 'annex_session=1', 'service-worker-allowed': '/',
    'content-security-policy': 'default-src *', 'refresh': '0; url=https://elsewhere.example', link: '</x>; rel=preload',
    'clear-site-data': '"*"', 'access-control-allow-credentials': 'true', 'x-frame-options': 'none',
  } }),
}
export default createIntegration({
  fetch_published_script: async (event, { environment }) => {
    const { text, cache } = environment.siteInstallation.configuration
    if (answers[text]) return answers[text]()
    made += 1
    await new Promise((resolve) => setTimeout(resolve, 50))
    const headers = { 'content-type': 'application/javascript', ...(cache && { 'cache-control': cache }) }
    return new Response('/* ' + text + ' ' + made + ' of ' + event.siteId + ' */', { headers })
  },
})`
const more = `
configurations:
  site:
    properties:
      text: { type: string }
      cache: { type: string }
    required: [text]`

describe('the published script of a site', () => {
  let annex: Annex
  let path: string
  let unscoped: string
  before(async () => {
    const scopes = ['site:script:inject']
    annex = await startAnnex({
      plugins: { banner: { script: banner, more, scopes }, unscoped: { script: banner } },
    })
    path = (await installSample(annex, 'banner', 'site')).path
    unscoped = (await installSample(annex, 'unscoped', 'site', {})).path
  })
  after(() => annex.close())

  const configure = async (text: string, cache?: string): Promise<void> => {
    const configuration = { text, ...(cache && { cache }) }
    const { status } = await annex.api('PATCH', path, { configuration })
    assert.equal(status, 200)
  }
  /** As a browser asks for it: without a token. */
  const get = (headers: Record<string, string> = {}, of = path) =>
    fetch(`${annex.url}${of}/script`, { headers, redirect: 'manual' })
  const codeOf = async (response: Response): Promise<string> => ((await response.json()) as Json).error.code

  it('does nothing if settings are missing', async () => {
    const response = await get()
    assert.deepEqual([response.status, await response.text()], [200, '/* nothing to run */'])
  })

  it('has its own content type, and cannot run with the URL origin of Annex', async () => {
    await configure('hello')
    const response = await get()
    assert.match(await response.text(), /^\/\* hello \d+ of site_/)
    assert.equal(response.headers.get('content-type'), 'application/javascript')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(response.headers.get('content-security-policy'), "default-src 'none'; sandbox")
    assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin')
    for (const dest of ['script', 'worker', 'serviceworker']) {
      const own = await get({ 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': dest })
      assert.deepEqual([own.status, await codeOf(own)], [403, 'load_refused'], dest)
      assert.equal((await get({ 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': dest })).status, 200)
    }
  })

  it('is an empty script if its handler returns nothing', async () => {
    await configure('nothing')
    const response = await get()
    assert.equal(response.headers.get('content-type'), 'application/javascript')
    assert.match(await response.text(), /^\/\*[^*]*\*\/$/)
  })

  it('is cached for its max-age, for all visitors, until its settings change', async () => {
    await configure('kept', 'max-age=604800')
    const texts = await Promise.all([1, 2, 3, 4, 5].map(async () => (await get()).text()))
    assert.equal(new Set([...texts, await (await get()).text()]).size, 1)
    const { headers } = await get()
    assert.equal(headers.get('cache-control'), 'public, max-age=300')
    const again = await get({ 'if-none-match': headers.get('etag') ?? '', 'cache-control': 'max-age=0' })
    assert.deepEqual([again.status, await again.text()], [304, ''])
    await configure('changed', 'max-age=604800')
    assert.match(await (await get()).text(), /^\/\* changed/)
  })

  it('is created again for each page if it forbids caching', async () => {
    for (const cache of ['no-store, max-age=60', 'private, max-age=60', 'max-age=0', undefined]) {
      await configure('fresh', cache)
      const [first, second] = [await get(), await get()]
      assert.notEqual(await first.text(), await second.text(), String(cache))
      assert.equal(second.headers.get('cache-control'), 'no-cache')
    }
  })

  it('is created once for simultaneous visitors', async () => {
    await configure('shared')
    const texts = await Promise.all([1, 2, 3, 4, 5].map(async () => (await get()).text()))
    assert.equal(new Set(texts).size, 1)
  })

  it('that fails is logged once, not for each page view', async () => {
    await configure('error')
    const answers = await Promise.all(Array.from({ length: 20 }, () => get()))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [500])
    const { json } = await annex.api('GET', '/v1/logs?integration=banner')
    assert.equal(json.items.filter(({ text }: Json) => text.includes('no banner')).length, 1)
  })

  it('of a stranger can only be JavaScript', async () => {
    for (const text of ['html', 'list']) {
      await configure(text)
      assert.equal((await get()).headers.get('content-type'), 'text/javascript; charset=utf-8', text)
    }
    await configure('headers')
    const { headers } = await get()
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox")
    const given = ['set-cookie', 'service-worker-allowed', 'refresh', 'link', 'clear-site-data']
    for (const name of [...given, 'access-control-allow-credentials', 'x-frame-options']) {
      assert.equal(headers.get(name), null, name)
    }
    await configure('redirect')
    assert.deepEqual([(await get()).status, await codeOf(await get())], [500, 'script_failed'])
    await configure('huge')
    assert.equal(await codeOf(await get()), 'answer_too_large')
  })

  it('needs the scope site:script:inject', async () => {
    const response = await get({}, unscoped)
    assert.equal(response.status, 403)
    const { error } = (await response.json()) as Json
    assert.deepEqual(
      [error.code, error.details],
      ['missing_scope', [{ path: '/scopes', message: 'site:script:inject' }]],
    )
  })

  it('is a 404 for a site without the installation', async () => {
    const response = await get({}, `${path.slice(0, -4)}0000`)
    assert.equal(response.status, 404)
  })
})
