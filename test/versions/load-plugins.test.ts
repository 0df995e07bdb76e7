import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type Json, startAnnex } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('here') })`

describe('a plugin folder’s organization', () => {
  it('has to be there; the error names those that are, and what makes one', async () => {
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

  it('keeps its integration’s name: another’s folder does not take over installations and secrets', async () => {
    const annex = await startAnnex({ plugins: { ours: { script } } })
    try {
      await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
      const { organization } = annex.server.samples
      await annex.api('POST', '/v1/integrations/ours/installations', { organization })
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
