import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ownSourcesOf } from '../../host/bundle/own-sources.ts'

it('the own sources of a bundle begin with the script, for any spelling in the manifest', () => {
  const sources = [
    '@annex/runtime/ui.ts',
    'lib/a.ts',
    'node_modules/x/index.js',
    'src/index.ts',
    'json:b',
    'lib/c.ts',
  ]
  const map = JSON.stringify({ sources, sourcesContent: sources.map((path) => `// ${path}`) })
  for (const script of ['src/index.ts', './src/index.ts', 'src//index.ts', './src/../src/index.ts']) {
    const found = ownSourcesOf({ map }, script)
    assert.deepEqual(
      found.map(({ path }) => path),
      ['src/index.ts', 'lib/a.ts', 'lib/c.ts'],
      script,
    )
    assert.deepEqual(found[0]?.text, '// src/index.ts')
  }
})
