import assert from 'node:assert/strict'
import { linkSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const answers = (imports: string, answer: string) => `import { createIntegration } from '@annex/runtime'
${imports}
export default createIntegration({ fetch: async () => new Response(${answer}) })`

async function withAnnex(
  work: (annex: Annex, reload: () => Promise<Json[]>) => Promise<void>,
): Promise<void> {
  const annex = await startAnnex({ sandboxes: 'processes' })
  try {
    await work(annex, async () => (await annex.api('POST', '/v1/reload')).json.items)
  } finally {
    await annex.close()
  }
}

describe('a hard link to a file of DATA_DIR in a plugin folder', () => {
  it('cannot be imported by the script', () =>
    withAnnex(async (annex, reload) => {
      const folder = writePlugin(annex.pluginsDir, 'thief', {
        script: answers("import token from './token.txt'", 'token'),
      })
      linkSync(join(annex.dataDir, 'cli.token'), join(folder, 'token.txt'))
      const [thief] = await reload()
      assert.equal(thief.state, 'failed')
      assert.match(thief.problems[0].message, /"token\.txt" is a file of Annex itself \(DATA_DIR\)/)
      assert.notEqual((await fetch(`${annex.url}/x/thief`)).status, 200)
    }))

  it('cannot be the manifest, whose errors would quote it', () =>
    withAnnex(async (annex, reload) => {
      const folder = writePlugin(annex.pluginsDir, 'thief', { script: answers('', '""') })
      rmSync(join(folder, 'service-manifest.yaml'))
      linkSync(join(annex.dataDir, 'cli.token'), join(folder, 'service-manifest.yaml'))
      const [thief] = await reload()
      assert.equal(thief.problems[0].message, 'the manifest is a file of Annex itself (DATA_DIR)')
      const token = readFileSync(join(annex.dataDir, 'cli.token'), 'utf8').trim()
      assert.ok(!JSON.stringify(thief).includes(token))
    }))

  it('cannot be the script, the icon, or part of a linked plugin folder', () =>
    withAnnex(async (annex, reload) => {
      const folder = writePlugin(annex.pluginsDir, 'thief', {
        script: answers('', '""'),
        more: 'icon: ./icon.png',
      })
      rmSync(join(folder, 'index.ts'))
      for (const path of ['index.ts', 'icon.png'])
        linkSync(join(annex.dataDir, 'cli.token'), join(folder, path))
      writePlugin(annex.dataDir, 'inside', { script: answers('', '""') })
      symlinkSync(join(annex.dataDir, 'inside'), join(annex.pluginsDir, 'link'))
      const [link, thief] = await reload()
      assert.deepEqual(
        thief.problems.map(({ message }: Json) => message),
        ['script "./index.ts"', 'image "./icon.png"'].map(
          (what) => `the ${what} is a file of Annex itself (DATA_DIR)`,
        ),
      )
      assert.equal(link.problems[0].message, 'the manifest is a file of Annex itself (DATA_DIR)')
    }))

  it('is refused, but a hard link between two plugin files is not', () =>
    withAnnex(async (annex, reload) => {
      const script = answers("import text from './text.txt'", 'text')
      const folder = writePlugin(annex.pluginsDir, 'own', { script, files: { 'a.txt': 'hello' } })
      linkSync(join(folder, 'a.txt'), join(folder, 'text.txt'))
      await reload()
      assert.equal(await (await fetch(`${annex.url}/x/own`)).text(), 'hello')
    }))
})
