import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const secret = 'sk_test/Zm9v+"quoted"\\and ümläut'

/** A script that logs its own secrets in every way that a careless author, or a careful thief, finds. */
const careless = `
import { createIntegration, Logger } from '@annex/runtime'
const ways = {
  plain: (s) => console.log('key', s),
  object: (s, all) => console.log({ nested: [{ key: s }], all }),
  json: (s, all) => console.info(JSON.stringify(all)),
  url: (s) => console.warn('https://api.example.com/?key=' + encodeURIComponent(s)),
  basic: (s) => console.log('Basic ' + btoa(unescape(encodeURIComponent('user:' + s)))),
  template: (s) => console.log('%s and %o', s, { s }),
  logger: (s) => Logger('mine').error('failed with', s),
  cause: (s) => console.error(new Error('outer', { cause: new Error('inner ' + s) })),
  cut: (s) => console.log('x'.repeat(8112) + s + s),
  cutInside: (s) => console.log({ long: 'x'.repeat(8100), s, t: s }),
  throw: (s) => { throw new Error('thrown ' + s) },
  named: (s) => { const error = new Error('named'); error.name = s; throw error },
  stack: (s) => { const error = new Error('stacked'); error.stack = 'Error: ' + s + '\\n at ' + s; throw error },
  value: (s) => { throw s },
  late: async (s, all, context) => { context.waitUntil((async () => { await null; console.log('late', s) })()) },
}
export default createIntegration({
  fetch: async (request, context) => {
    const { environment } = context
    const url = new URL(request.url)
    const values = [environment.secrets.API_KEY, ...Object.values(environment.signingSecrets),
      ...Object.values(environment.apiTokens), environment.installation.configuration.access_token]
    for (const value of values) {
      if (value) await ways[url.pathname.split('/').at(-1)](value, environment, context)
    }
    return Response.json(values)
  },
  events: { installation_setup: async (event, { api, environment }) => {
    await api.request({ method: 'PATCH', path: '/integrations/careless/installations/' + environment.installation.id,
      body: { configuration: { access_token: 'stored-by-the-script-itself' } } })
  } },
})`

const ways = ['plain', 'object', 'json', 'url', 'basic', 'template', 'logger', 'cause', 'cut', 'cutInside']
const throwing = ['throw', 'named', 'stack', 'value']

describe('the log of a script that logs its secrets', () => {
  let annex: Annex
  let endpoint = ''
  let values: string[] = []
  const logged = async (path: string): Promise<string> => {
    const response = await fetch(`${endpoint}/${path}`)
    await response.text()
    const id = response.headers.get('x-request-id')
    const { json } = await until(
      () => annex.api('GET', `/v1/logs?request=${id}&limit=200`),
      (answer) => answer.json.count > 0,
    )
    return json.items.map(({ text }: Json) => text).join('\n')
  }
  before(async () => {
    process.env.CARELESS_API_KEY = secret
    // biome-ignore lint/suspicious/noTemplateCurlyInString: how a manifest names a variable
    const more = 'secrets:\n  API_KEY: ${{ env.CARELESS_API_KEY }}'
    annex = await startAnnex({ sandboxes: 'processes', plugins: { careless: { script: careless, more } } })
    endpoint = (await installSample(annex, 'careless')).endpoint
    await until(
      async () => (await fetch(`${endpoint}/plain`)).json() as Json,
      (found) => found.includes('stored-by-the-script-itself'),
    )
    values = ((await (await fetch(`${endpoint}/plain`)).json()) as string[]).filter(Boolean)
  })
  after(() => {
    delete process.env.CARELESS_API_KEY
    return annex.close()
  })

  it('comes from a script with six secrets', () => {
    assert.equal(values.length, 6)
    assert.equal(values[0], secret)
  })

  for (const way of [...ways, ...throwing, 'late']) {
    it(`shows no secret: ${way}`, async () => {
      const text = await logged(way)
      assert.match(text, /\[secret API_KEY\]/)
      for (const value of values) {
        for (const part of [
          value,
          value.slice(0, 12),
          encodeURIComponent(value),
          JSON.stringify(value).slice(1, -1),
        ]) {
          // A long line of JSON is cut before it comes to all of them.
          assert.ok(!text.includes(part), `${part} in ${text.slice(0, 300)}`)
        }
      }
    })
  }

  it('names each secret', async () => {
    const text = await logged('plain')
    for (const name of ['API_KEY', 'signingSecrets.integration', 'signingSecrets.installation']) {
      assert.ok(text.includes(`[secret ${name}]`), text)
    }
    assert.ok(text.includes('[secret apiTokens.integration]'), text)
    assert.ok(text.includes('[secret configuration.access_token]'), text)
  })
})
