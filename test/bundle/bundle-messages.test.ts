import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatProblem } from '../../host/manifest/problem.ts'
import { bundle, textOf } from './bundling.ts'

test('a top-level await is an error with a hint', async (t) => {
  const text = textOf(
    await bundle(t, {
      'index.ts': `import { wait } from './wait.ts'\nconst settings = await wait()\nexport default settings`,
      'wait.ts': `export const wait = async () => 1\nawait wait()`,
    }),
  )
  assert.match(
    text,
    /^index\.ts:2:18 error a script cannot use await at its top level: it is loaded synchronously$/m,
  )
  assert.match(text, /^wait\.ts:2:1 error a script cannot use await/m)
  assert.match(text, /hint: await inside a handler/)
  assert.doesNotMatch(text, /cjs|output format/)
})

test('import.meta is a warning that names its replacement', async (t) => {
  const { bundle: made, problems } = await bundle(t, {
    'index.ts': 'export default { at: import.meta.url }',
  })
  assert.ok(made)
  const [problem] = problems
  assert.ok(problem)
  const text = formatProblem(problem, { color: false })
  assert.match(text, /index\.ts:1:22 warning "import\.meta" is empty in a sandbox$/m)
  assert.match(text, /hint: import a file by its path/)
  assert.doesNotMatch(text, /cjs|esm|output format/)
})

test('an import that the SDK lacks names the SDK, and no folder of the host', async (t) => {
  for (const name of ['@annex/runtime', '@gitbook/runtime']) {
    const text = textOf(
      await bundle(t, {
        'index.ts': `import { createIntegratoin } from '${name}'\nexport default createIntegratoin()`,
      }),
    )
    assert.match(text, /^index\.ts:1:10 error "@annex\/runtime" has no export "createIntegratoin"$/m)
    assert.match(text, /hint: Did you mean to import "createIntegration" instead\?/)
    assert.doesNotMatch(text, /\.\.\/|sdk:|index\.ts" for/)
  }
})
