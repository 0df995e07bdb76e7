import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { startAnnex } from '../support/annex.ts'

it('the plugin in fifteen lines of the README runs', async () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const blocks = [...readme.matchAll(/`(plugins\/hello\/[\w.-]+)`\n\n```\w+\n([\s\S]*?)```/g)]
  assert.equal(blocks.length, 2)
  const folder = mkdtempSync(join(tmpdir(), 'annex-readme-'))
  for (const [, path = '', text = ''] of blocks) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const annex = await startAnnex({ pluginsDir: join(folder, 'plugins') })
  try {
    const answer = await fetch(`${annex.url}/x/hello`, { method: 'PUT' })
    assert.deepEqual(await answer.json(), { hello: 'hello', method: 'PUT' })
    const lines = blocks.reduce((count, [, , text = '']) => count + text.trim().split('\n').length, 0)
    assert.ok(lines <= 15, `${lines} lines`)
  } finally {
    await annex.close()
    rmSync(folder, { recursive: true })
  }
})
