import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startWithPackages } from '../packages/start-with-packages.ts'
import type { Annex } from '../support/annex.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'docs/plugins.md'), 'utf8')

describe('routers as docs/plugins.md shows them', () => {
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
      const organization = 'home'
      const made = await annex.api('POST', `/v1/integrations/${name}/installations`, { organization })
      assert.equal(made.status, 201, made.text)
      const { id } = made.json
      const installed = `/x/${name}/${id}`
      const endpoints = [`/x/${name}`, installed]
      for (const kind of ['sites', 'spaces']) {
        const all = await annex.api('GET', `/v1/orgs/home/${kind}`)
        const target = all.json.items[0].id
        const body = { [kind.slice(0, -1)]: target }
        const there = await annex.api('POST', `/v1/integrations/${name}/installations/${id}/${kind}`, body)
        assert.equal(there.status, 201, there.text)
        endpoints.push(`${installed}/${kind}/${target}`)
      }
      for (const endpoint of endpoints) {
        const answer = await fetch(`${annex.url}${endpoint}/orders/7`)
        assert.equal(answer.status, 200, endpoint)
        assert.deepEqual(await answer.json(), { order: '7' })
        assert.equal((await fetch(`${annex.url}${endpoint}/elsewhere`)).status, 404, endpoint)
      }
    })
  }
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

  it('passes', () => {
    const { status, stdout } = runTest()
    assert.equal(status, 0, stdout)
    assert.match(stdout, /^ℹ pass 2$/m)
  })

  it('fails when the handler answers something else', () => {
    const script = join(plugin, 'index.ts')
    writeFileSync(script, readFileSync(script, 'utf8').replace('received: true', 'received: false'))
    const { status, stdout } = runTest()
    assert.equal(status, 1, stdout)
    assert.match(stdout, /✖ takes a POST/)
    assert.match(stdout, /✔ refuses a GET/)
  })
})
