import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { compile, root } from '../support/compile.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('here') })`
const forNode = "import { test } from 'node:test'\ntest('it answers', () => process.exit(0))\n"

test('the compiler skips test files of a plugin folder, and reads all others', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-tested-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const config = JSON.parse(readFileSync(join(root, 'plugins/tsconfig.json'), 'utf8'))
  const adapted = { ...config, extends: join(root, 'runtime/tsconfig.json') }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(adapted))
  const tests = ['index.test.ts', 'lib/count.spec.tsx', 'test/answers.ts', 'tests/a.ts', 'lib/__tests__/b.ts']
  const files = Object.fromEntries(tests.map((path) => [path, forNode]))
  writePlugin(folder, 'tested', { script, files })
  assert.equal(await compile(folder), '')
  writePlugin(folder, 'tested', { script, files: { 'lib/other.ts': forNode } })
  const said = await compile(folder)
  assert.match(said, /tested\/lib\/other\.ts/)
  assert.doesNotMatch(said, /test\.ts|spec|tests/)
})
