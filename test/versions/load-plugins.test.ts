import assert from 'node:assert/strict'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { installSample, type Json, startAnnex } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('here') })`

describe('a plugin folder’s organization', () => {
  it('must exist, and the error names existing ones and the command that creates one', async () => {
    const annex = await startAnnex({ plugins: { lost: { script, organization: 'nowhere' } } })
    try {
      const [plugin] = annex.server.plugins
      assert.equal(plugin?.state, 'failed')
      const [problem] = plugin?.problems ?? []
      assert.deepEqual([problem?.line, problem?.column], [4, 15])
      assert.equal(problem?.message, 'there is no organization "nowhere" on this Annex; there are home')
      assert.equal(problem?.hint, 'name one of them, or make it with: npx annex orgs create nowhere')
    } finally {
      await annex.close()
    }
  })

  it('may be the operator’s by an external id, with internal scopes and any variable', async () => {
    const own = { script, scopes: ['site:script:inject'] }
    const annex = await startAnnex({ plugins: { 'by-id': { ...own, organization: 'ext_home' } } })
    const load = async (): Promise<Json> => {
      const { items } = (await annex.api('POST', '/v1/reload')).json
      return items.find(({ folder }: Json) => folder.endsWith('by-id'))
    }
    try {
      assert.equal(annex.server.plugins[0]?.state, 'failed')
      const { organization } = annex.server.samples
      await annex.api('PATCH', `/v1/orgs/${organization}`, { externalIds: ['ext_home', 'acme'] })
      const loaded = await load()
      assert.deepEqual([loaded.state, loaded.problems], ['loaded', []])
      // Another organization has the external id as its subdomain, which comes first.
      await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
      writePlugin(annex.pluginsDir, 'by-id', { ...own, organization: 'acme' })
      assert.match((await load()).problems[0].message, /"site:script:inject" is internal/)
      // The operator's organization has given its subdomain away.
      await annex.api('PATCH', `/v1/orgs/${organization}`, { subdomain: 'hq' })
      await annex.api('POST', '/v1/orgs', { subdomain: 'home', title: 'Strangers' })
      writePlugin(annex.pluginsDir, 'by-id', { ...own, organization: 'home' })
      assert.match((await load()).problems[0].message, /"site:script:inject" is internal/)
      writePlugin(annex.pluginsDir, 'by-id', { ...own, organization: 'hq' })
      assert.deepEqual((await load()).problems, [])
    } finally {
      await annex.close()
    }
  })

  it('keeps the name of its integration against a folder of another organization', async () => {
    const annex = await startAnnex({ plugins: { ours: { script } } })
    try {
      await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
      const { organization } = annex.server.samples
      await annex.api('POST', '/v1/integrations/ours/installations', {
        organization,
        ...(await agreementTo(annex, 'ours')),
      })
      rmSync(join(annex.pluginsDir, 'ours'), { recursive: true })
      const folder = writePlugin(annex.pluginsDir, 'ours', { script, organization: 'acme' })
      const { items } = (await annex.api('POST', '/v1/reload')).json
      const taken: Json = items.find((item: Json) => item.folder === folder)
      assert.equal(taken.state, 'failed')
      assert.match(
        taken.problems[0].message,
        /the name "ours" belongs to an integration of another organization/,
      )
    } finally {
      await annex.close()
    }
  })
})

it('a script that a compiler wrote as CommonJS runs', async () => {
  const compiled = `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
const runtime_1 = require("@annex/runtime");
exports.default = (0, runtime_1.createIntegration)({ fetch: async () => new Response('compiled') });
`
  const annex = await startAnnex({ plugins: { compiled: { script: compiled } } })
  try {
    assert.deepEqual(annex.server.plugins[0]?.problems, [])
    assert.equal(await (await fetch(`${annex.url}/x/compiled`)).text(), 'compiled')
  } finally {
    await annex.close()
  }
})

describe('a deployed name', () => {
  const answers = (text: string) => ({ script: script.replace('here', text) })
  const editManifest = (folder: string, from: string, to: string) => {
    const file = join(folder, 'service-manifest.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
  }
  const find = (items: Json[], name: string): Json => items.find((item) => item.name === name)

  it('is refused to a folder of another owner', async () => {
    const annex = await startAnnex({ plugins: { ours: answers('first') } })
    try {
      await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
      const claim = writePlugin(annex.pluginsDir, 'claim', { ...answers('theirs'), organization: 'acme' })
      editManifest(claim, 'name: claim', 'name: ours')
      writePlugin(annex.pluginsDir, 'ours', answers('second'))
      const { items } = (await annex.api('POST', '/v1/reload')).json
      assert.deepEqual(
        items.map(({ state }: Json) => state),
        ['failed', 'loaded'],
      )
      assert.match(items[0].problems[0].message, /"ours" belongs to an integration of another organization/)
      assert.equal(await (await fetch(`${annex.url}/x/ours`)).text(), 'second')
      editManifest(claim, 'name: ours', 'name: OURS')
      const spelled = (await annex.api('POST', '/v1/reload')).json.items
      assert.deepEqual(
        spelled.map(({ state }: Json) => state),
        ['failed', 'loaded'],
      )
    } finally {
      await annex.close()
    }
  })

  it('is retired by a new name in the manifest, which is reported once', async () => {
    const annex = await startAnnex({ plugins: { before: answers('the old code') } })
    try {
      await installSample(annex, 'before')
      editManifest(join(annex.pluginsDir, 'before'), 'name: before', 'name: after')
      const { items } = (await annex.api('POST', '/v1/reload')).json
      const retired = find(items, 'before')
      assert.equal(retired.state, 'retired')
      assert.equal(
        retired.note,
        'Its folder holds "after" now. Its installation stays, with settings and secrets: a folder with the name "before" serves them again.',
      )
      const gone = await fetch(`${annex.url}/x/before`)
      assert.equal(gone.status, 503)
      assert.equal(((await gone.json()) as Json).error.code, 'no_version')
      assert.equal((await fetch(`${annex.url}/x/after`)).status, 200)
      const again = (await annex.api('POST', '/v1/reload')).json.items
      assert.deepEqual(
        again.map(({ name }: Json) => name),
        ['after'],
      )
      editManifest(join(annex.pluginsDir, 'before'), 'name: after', 'name: before')
      const back = (await annex.api('POST', '/v1/reload')).json.items
      assert.equal(find(back, 'after').note, 'Its folder holds "before" now. It has no installations.')
      assert.equal((await fetch(`${annex.url}/x/before`)).status, 200)
    } finally {
      await annex.close()
    }
  })

  it('stays deployed while its manifest is broken or its folder is renamed', async () => {
    const annex = await startAnnex({ plugins: { one: answers('one'), two: answers('two') } })
    try {
      editManifest(join(annex.pluginsDir, 'one'), 'name: one', 'name: other\nvisibilty: public')
      renameSync(join(annex.pluginsDir, 'two'), join(annex.pluginsDir, 'moved'))
      const { items } = (await annex.api('POST', '/v1/reload')).json
      assert.deepEqual(
        items.map(({ state }: Json) => state),
        ['loaded', 'failed'],
      )
      assert.equal(await (await fetch(`${annex.url}/x/one`)).text(), 'one')
      assert.equal(await (await fetch(`${annex.url}/x/two`)).text(), 'two')
    } finally {
      await annex.close()
    }
  })

  it('is retired without its folder, which the next load reports', async () => {
    const annex = await startAnnex({ plugins: { one: answers('one') } })
    try {
      rmSync(join(annex.pluginsDir, 'one'), { recursive: true })
      const { items } = (await annex.api('POST', '/v1/reload')).json
      assert.equal(find(items, 'one').note, 'Its folder is gone. It has no installations.')
    } finally {
      await annex.close()
    }
  })
})
