import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const plugins = fileURLToPath(new URL('../../plugins', import.meta.url))

const mirror = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment }) => {
    const url = new URL(request.url)
    if (url.pathname.endsWith('/throw')) throw new Error('what a visitor must not read')
    if (url.pathname.endsWith('/environment')) return Response.json(environment)
    const body = new Uint8Array(await request.arrayBuffer())
    return new Response(body.reverse(), {
      status: 207,
      headers: [
        ['x-method', request.method],
        ['x-url', request.url],
        ['x-sent', request.headers.get('x-sent') ?? ''],
        ['x-cookie', request.headers.get('cookie') ?? ''],
        ['set-cookie', 'a=1; Path=/; Domain=example.com; HttpOnly'],
        ['set-cookie', 'annex_session=stolen'],
        ['strict-transport-security', 'max-age=1'],
        ['content-type', 'application/x-mirror'],
      ],
    })
  },
})`

describe('a plugin folder becomes an answer', () => {
  let annex: Annex
  let endpoint: string
  let id: string
  before(async () => {
    annex = await startAnnex({ plugins: { mirror: { script: mirror } } })
    const installed = await installSample(annex, 'mirror')
    endpoint = installed.endpoint
    id = installed.id
  })
  after(() => annex.close())

  it('gives the script method, path, query, headers and bytes, and returns its answer', async () => {
    const bytes = new Uint8Array(256).map((_zero, index) => index)
    const response = await fetch(`${endpoint}/a/b%20c?q=1&q=2`, {
      method: 'PUT',
      body: bytes,
      headers: { 'x-sent': 'by me', cookie: 'theme=dark; annex_session=secret' },
    })
    assert.equal(response.status, 207)
    assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes.toReversed())
    const { headers } = response
    assert.equal(headers.get('x-method'), 'PUT')
    assert.equal(headers.get('x-url'), `${endpoint}/a/b%20c?q=1&q=2`)
    assert.equal(headers.get('x-sent'), 'by me')
    assert.equal(headers.get('content-type'), 'application/x-mirror')
    assert.match(headers.get('x-request-id') ?? '', /^req_/)
  })

  it('keeps a stranger’s answer away from the host’s URL origin and cookies', async () => {
    const { headers } = await fetch(endpoint, {
      method: 'POST',
      headers: { cookie: 'theme=dark; annex_session=s' },
    })
    assert.match(headers.get('content-security-policy') ?? '', /^sandbox (?!.*allow-same-origin)/)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('strict-transport-security'), null)
    assert.equal(headers.get('x-cookie'), 'theme=dark')
    const path = new URL(endpoint).pathname
    assert.deepEqual(headers.getSetCookie(), [
      `a=1; HttpOnly; Path=${path}`,
      `x-annex_session=stolen; Path=${path}`,
    ])
  })

  it('shows the script its endpoint in both fields of its environment', async () => {
    const environment: Json = await (await fetch(`${endpoint}/environment`)).json()
    assert.equal(environment.installation.urls.publicEndpoint, endpoint)
    assert.equal(environment.integration.urls.publicEndpoint, endpoint)
    assert.equal(environment.installation.status, 'active')
    const whole: Json = await (await fetch(`${annex.url}/x/mirror/environment`)).json()
    assert.equal(whole.integration.urls.publicEndpoint, `${annex.url}/x/mirror`)
    assert.equal(whole.installation, undefined)
  })

  it('answers 500 without detail when the script throws, and logs the author’s line', async () => {
    const response = await fetch(`${endpoint}/throw`)
    assert.equal(response.status, 500)
    const { error }: Json = await response.json()
    assert.equal(error.code, 'script_failed')
    assert.doesNotMatch(JSON.stringify(error), /must not read/)
    const logs = await annex.api('GET', `/v1/logs?request=${error.requestId}`)
    assert.equal(logs.json.count, 1)
    assert.match(
      logs.json.items[0].text,
      /^Error: what a visitor must not read\n\s+at .*plugins\/mirror\/index\.ts:6:\d+/,
    )
    assert.doesNotMatch(logs.json.items[0].text, /runtime\/process|node_modules/)
  })

  it('answers 404 for an unknown endpoint', async () => {
    const unknown = id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    for (const path of ['/x/nobody', `/x/mirror/${unknown}`, '/x/', '/x/Mirrors', '/x/mirror/../echo/..']) {
      const response = await fetch(annex.url + path)
      assert.equal(response.status, 404, path)
      assert.equal(((await response.json()) as Json).error.code, 'not_found', path)
    }
  })

  it('answers 503 while the installation is paused', async () => {
    const path = `/v1/integrations/mirror/installations/${id}`
    await annex.api('POST', `${path}/pause`)
    const response = await fetch(endpoint)
    assert.equal(response.status, 503)
    assert.equal(((await response.json()) as Json).error.code, 'installation_paused')
    await annex.api('POST', `${path}/resume`)
    assert.equal((await fetch(endpoint)).status, 207)
  })
})

describe('the echo integration', () => {
  it('answers exactly as spec 4.1 says', async () => {
    const annex = await startAnnex({ pluginsDir: plugins })
    try {
      const { endpoint } = await installSample(annex, 'echo')
      for (const url of [endpoint, `${endpoint}/deeper?x=1`, `${annex.url}/x/echo`]) {
        const posted = await fetch(url, { method: 'POST', body: '{"any":1}' })
        assert.equal(posted.status, 200)
        assert.equal(posted.headers.get('content-type'), 'application/json')
        assert.deepEqual(await posted.json(), { received: true })
        for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
          const refused = await fetch(url, { method })
          assert.equal(refused.status, 405, method)
          assert.equal(await refused.text(), 'Method not allowed')
          assert.match(refused.headers.get('content-type') ?? '', /^text\/plain/)
        }
      }
    } finally {
      await annex.close()
    }
  })
})

describe('a folder that is added, broken or removed', () => {
  const says = (text: string) => ({
    script: `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response(${JSON.stringify(text)}) })`,
  })

  it('does not disturb other folders', async () => {
    const annex = await startAnnex({ plugins: { one: says('one') }, flags: { WATCH: 'true' } })
    const said = async (name: string) => (await fetch(`${annex.url}/x/${name}`)).text()
    try {
      assert.equal(await said('one'), 'one')
      writePlugin(annex.pluginsDir, 'two', says('two'))
      await until(
        () => said('two'),
        (text) => text === 'two',
      )
      writePlugin(annex.pluginsDir, 'two', says('two, again'))
      await until(
        () => said('two'),
        (text) => text === 'two, again',
      )

      writeFileSync(join(annex.pluginsDir, 'two/service-manifest.yaml'), 'name: two\nvisibilty: public\n')
      const reloaded = await annex.api('POST', '/v1/reload')
      const two = reloaded.json.items.find(({ folder }: Json) => folder.endsWith('two'))
      assert.equal(two.state, 'failed')
      const unknown = two.problems.find(({ message }: Json) => message.includes('visibilty'))
      assert.deepEqual([unknown.line, unknown.column], [2, 1])
      assert.match(unknown.hint, /visibility/)
      assert.equal(await said('one'), 'one')
      assert.equal(await said('two'), 'two, again', 'the version that was deployed goes on')

      rmSync(join(annex.pluginsDir, 'two'), { recursive: true })
      await annex.api('POST', '/v1/reload')
      const gone = await fetch(`${annex.url}/x/two`)
      assert.equal(gone.status, 503)
      assert.equal(((await gone.json()) as Json).error.code, 'no_version')
    } finally {
      await annex.close()
    }
  })
})

describe('a promise without an await', () => {
  const floating = `import { createIntegration } from '@annex/runtime'
let served = 0
export default createIntegration({ fetch: async ({ url }) => { if (url.endsWith('/load')) return new Response('loaded')
  Promise.reject(new TypeError('left alone'))
  return new Response(String(++served))
} })`

  it('is logged with its position when it rejects, and the sandbox continues', async () => {
    const annex = await startAnnex({ plugins: { floating: { script: floating } } })
    try {
      // On a busy machine to load takes long, and what comes after runs elsewhere, in a new sandbox.
      assert.equal(await (await fetch(`${annex.url}/x/floating/load`)).text(), 'loaded')
      for (const count of ['1', '2', '3'])
        assert.equal(await (await fetch(`${annex.url}/x/floating`)).text(), count)
      const { json } = await until(
        () => annex.api('GET', '/v1/logs'),
        (answered) => answered.json.count >= 3,
      )
      assert.match(
        json.items[0].text,
        /^Uncaught \(in promise\) TypeError: left alone\n\s+at .*plugins\/floating\/index\.ts:4:\d+/,
      )
    } finally {
      await annex.close()
    }
  })
})

describe('work after the answer', () => {
  const later = `import { createIntegration } from '@annex/runtime'
setTimeout(() => console.log('never: set while the script was loaded'), 1)
export default createIntegration({ fetch: async (request, { waitUntil }) => {
  const ms = (time) => new Promise((resolve) => setTimeout(resolve, time))
  ms(30).then(() => console.log('never: the dispatch is done'))
  if (request.url.endsWith('/wait')) waitUntil(ms(60).then(() => console.log('waited')))
  return new Response('answered')
} })`

  it('continues only inside waitUntil', async () => {
    const annex = await startAnnex({ plugins: { later: { script: later } } })
    try {
      await (await fetch(`${annex.url}/x/later`)).text()
      const logged = async (): Promise<string[]> =>
        (await annex.api('GET', '/v1/logs')).json.items.map(({ text }: Json) => text)
      const unfired = 'A timer that is set while nothing is handled does not fire.'
      await until(logged, (found) => found.length > 0)
      await new Promise((resolve) => setTimeout(resolve, 100))
      assert.deepEqual(await logged(), [unfired])
      assert.equal(await (await fetch(`${annex.url}/x/later/wait`)).text(), 'answered')
      const texts = await until(logged, (found) => found.includes('waited'))
      // On a busy machine a second process may have loaded it, too.
      const sinceThen = texts.filter((text) => text !== unfired)
      assert.deepEqual(sinceThen, ['never: the dispatch is done', 'waited'])
    } finally {
      await annex.close()
    }
  })
})
