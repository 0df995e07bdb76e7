import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startWithPackages } from '../packages/start-with-packages.ts'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, startAnnex } from '../support/annex.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'docs/plugins.md'), 'utf8')

/** Installs an integration in the sample site and space. @returns the paths of all endpoints, the integration's first */
async function installEverywhere(annex: Annex, name: string): Promise<string[]> {
  const installations = `/v1/integrations/${name}/installations`
  const made = await annex.api('POST', installations, {
    organization: 'home',
    ...(await agreementTo(annex, name)),
  })
  assert.equal(made.status, 201, made.text)
  const installed = `/x/${name}/${made.json.id}`
  const endpoints = [`/x/${name}`, installed]
  for (const kind of ['site', 'space']) {
    const place = (await annex.api('GET', `/v1/orgs/home/${kind}s`)).json.items[0].id
    const there = await annex.api('POST', `${installations}/${made.json.id}/${kind}s`, { [kind]: place })
    assert.equal(there.status, 201, there.text)
    endpoints.push(`${installed}/${kind}s/${place}`)
  }
  return endpoints
}

describe('routers of docs/plugins.md', () => {
  const scripts = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, script = '']) => script)
  const scriptWith = (name: string) => scripts.find((script) => script.includes(`from '${name}'`)) ?? ''
  let annex: Annex
  before(async () => {
    annex = await startWithPackages({
      hono: { script: scriptWith('hono'), packages: ['hono'] },
      itty: { script: scriptWith('itty-router'), packages: ['itty-router'] },
    })
  })
  after(() => annex.close())

  for (const name of ['hono', 'itty']) {
    it(`${name}: a route answers at the integration, an installation, a site and a space`, async () => {
      const endpoints = await installEverywhere(annex, name)
      assert.equal(endpoints.length, 4)
      for (const endpoint of endpoints) {
        const answer = await fetch(`${annex.url}${endpoint}/orders/7`)
        assert.equal(answer.status, 200, endpoint)
        assert.deepEqual(await answer.json(), { order: '7' })
        assert.equal((await fetch(`${annex.url}${endpoint}/elsewhere`)).status, 404, endpoint)
      }
    })
  }
})

describe('the connection with a provider of docs/plugins.md', () => {
  const part = page.split('## Connecting with a provider')[1]?.split('\n## ')[0] ?? ''
  const blockOf = (language: string) => part.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? ''
  const source = { more: blockOf('yaml'), script: blockOf('ts') }
  const secrets = { PROVIDER_CLIENT_ID: 'client', PROVIDER_CLIENT_SECRET: 'secret of the client' }
  let annex: Annex
  before(async () => {
    Object.assign(process.env, secrets)
    annex = await startAnnex({ plugins: { connect: source } })
  })
  after(async () => {
    await annex.close()
    for (const name of Object.keys(secrets)) delete process.env[name]
  })

  it('registers the address of the integration for flows of an installation and a site', async () => {
    const endpoints = await installEverywhere(annex, 'connect')
    const [integration = '', ...levels] = endpoints
    assert.equal(levels.length, 3)
    for (const endpoint of levels) {
      const answer = await fetch(`${annex.url}${endpoint}/oauth`, { redirect: 'manual' })
      const authorization = new URL(answer.headers.get('location') ?? '')
      assert.equal(`${authorization.origin}${authorization.pathname}`, 'https://provider.example/authorize')
      assert.equal(authorization.searchParams.get('redirect_uri'), `${annex.url}/x/connect/oauth`)
      assert.equal(authorization.searchParams.get('client_id'), 'client')
    }
    assert.equal((await fetch(`${annex.url}${integration}/oauth`)).status, 400)
  })

  it('type-checks', () => {
    const folder = join(annex.pluginsDir, 'connect')
    const config = { extends: join(root, 'runtime/tsconfig.json'), include: [folder] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout)
  })
})

describe('the block from a pasted link of docs/plugins.md', () => {
  const part = page.split('### A block from a pasted link')[1]?.split('\n## ')[0] ?? ''
  const blockOf = (language: string) => part.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? ''
  const more = `${blockOf('yaml')}script: ./clip.tsx`
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ plugins: { clip: { more, files: { 'clip.tsx': blockOf('tsx') } } } })
  })
  after(() => annex.close())

  it('returns the properties of the block for the action @link.unfurl', async () => {
    const endpoints = await installEverywhere(annex, 'clip')
    const path = endpoints.at(-1)?.replace('/x/clip/', '/v1/integrations/clip/installations/')
    const url = 'https://clips.example/watch/42'
    const render = async (body: object) =>
      (await annex.api('POST', `${path}/render`, { componentId: 'clip', ...body })).json
    const pasted = await render({ action: { action: '@link.unfurl', url } })
    assert.deepEqual(pasted.props, { url })
    const later = await render({ props: pasted.props })
    assert.equal(later.element.children[0].source.url, `https://clips.example/embed?of=${url}`)
  })

  it('type-checks', () => {
    const folder = join(annex.pluginsDir, 'clip')
    const { status, stdout } = spawnSync('node', [join(root, 'test/support/compile-plugins.ts'), folder], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout)
  })
})

describe('the sign-in of visitors of docs/plugins.md', () => {
  const part = page.split('### A sign-in of visitors')[1]?.split('\n### ')[0] ?? ''
  const blockOf = (language: string) => part.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? ''
  let annex: Annex
  let signIn: string
  const site = '/v1/orgs/home/sites/sample'
  before(async () => {
    const scopes = blockOf('yaml').match(/[\w]+:\w+:\w+/g) ?? []
    annex = await startAnnex({ plugins: { 'sign-in': { scopes, script: blockOf('ts') } } })
    const [, , endpoint = ''] = await installEverywhere(annex, 'sign-in')
    const path = endpoint.replace('/x/sign-in/', '/v1/integrations/sign-in/installations/')
    signIn = (await annex.api('GET', path)).json.urls.visitorAuthentication
  })
  after(() => annex.close())

  const visit = (query: string) => fetch(`${signIn}${query}`, { redirect: 'manual' })

  it('names the missing setting while the site has no address', async () => {
    const answer = await visit('?location=/guide')
    assert.equal(answer.status, 503)
    assert.match(await answer.text(), /"The site has no address yet\."/)
  })

  it('sends a visitor back with a valid token', async () => {
    assert.equal((await annex.api('PATCH', site, { url: 'https://docs.example.com' })).status, 200)
    for (const [query, path] of [
      ['?location=/guide', '/guide'],
      ['?location=guide/start', '/guide/start'],
      ['', '/'],
    ] as const) {
      const answer = await visit(query)
      assert.equal(answer.status, 302)
      const to = new URL(answer.headers.get('location') ?? '')
      assert.equal(`${to.origin}${to.pathname}`, `https://docs.example.com${path}`)
      const token = to.searchParams.get('jwt_token')
      const { json } = await annex.api('POST', `${site}/publishing/auth/verify`, { token })
      assert.equal(json.valid, true)
    }
  })

  it('type-checks', () => {
    const folder = join(annex.pluginsDir, 'sign-in')
    const { status, stdout } = spawnSync('node', [join(root, 'test/support/compile-plugins.ts'), folder], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout)
  })
})

describe('the test beside the plugin echo', () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-plugin-test-'))
  const plugin = join(folder, 'plugins/echo')
  before(() => {
    mkdirSync(join(folder, 'plugins'))
    cpSync(join(root, 'plugins/echo'), plugin, { recursive: true })
    symlinkSync(join(root, 'bin'), join(folder, 'bin'))
  })
  after(() => rmSync(folder, { recursive: true }))
  const runTest = () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { status, stdout } = spawnSync(process.execPath, ['--test', join(plugin, 'echo.test.mjs')], {
      env,
      encoding: 'utf8',
    })
    return { status, stdout }
  }

  it('passes with node --test', () => {
    const { status, stdout } = runTest()
    assert.equal(status, 0, stdout)
    assert.match(stdout, /^ℹ pass 2$/m)
  })

  it('fails for another answer of the handler', () => {
    const script = join(plugin, 'index.ts')
    writeFileSync(script, readFileSync(script, 'utf8').replace('received: true', 'received: false'))
    const { status, stdout } = runTest()
    assert.equal(status, 1, stdout)
    assert.match(stdout, /✖ takes a POST/)
    assert.match(stdout, /✔ refuses a GET/)
  })
})
