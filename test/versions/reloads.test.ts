import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startAnnex, until } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('here') })`

/** A script that takes the bundler seconds, as it resolves each module apart. */
function slowFiles(modules: number): Record<string, string> {
  const names = Array.from({ length: modules }, (_none, index) => `m${index}`)
  return {
    ...Object.fromEntries(names.map((name) => [`slow/${name}.ts`, `export const ${name} = Math.random()`])),
    'slow.ts': `${names.map((name) => `import { ${name} } from './slow/${name}.ts'`).join('\n')}
console.log(${names.join(', ')})
${script}`,
  }
}

describe('two simultaneous reloads', () => {
  it('run one after the other, and the last saved folder is deployed', async () => {
    const annex = await startAnnex()
    const edit = (folder: string, from: string, to: string) => {
      const file = join(folder, 'service-manifest.yaml')
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
    }
    try {
      // The folders are read in the order of their names: "late" waits for the bundle of "early".
      const early = writePlugin(annex.pluginsDir, 'early', { script, files: slowFiles(500) })
      edit(early, 'script: ./index.ts', 'script: ./slow.ts')
      const late = writePlugin(annex.pluginsDir, 'late', { script })
      edit(late, 'title: late', 'title: first save')
      const first = annex.api('POST', '/v1/reload')
      // Types are written after all manifests were read, and before anything is bundled.
      const types = join(early, 'generated/integration.ts')
      await until(
        async () => existsSync(types),
        (exists) => exists,
      )
      edit(early, 'script: ./slow.ts', 'script: ./index.ts')
      edit(late, 'title: first save', 'title: last save')
      const second = await annex.api('POST', '/v1/reload')
      await first
      assert.deepEqual(
        second.json.items.map(({ state }: { state: string }) => state),
        ['loaded', 'loaded'],
      )
      assert.equal((await annex.api('GET', '/v1/integrations/late')).json.title, 'last save')
    } finally {
      await annex.close()
    }
  })
})
