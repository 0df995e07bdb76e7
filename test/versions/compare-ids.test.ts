import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IdKind, NamedId } from '../../host/manifest/read-manifest.ts'
import { compareIds } from '../../host/versions/compare-ids.ts'

const frame = { file: '/p/service-manifest.yaml', line: 9, column: 7, frame: '' }
const named = (kind: IdKind, id: string): NamedId => ({ kind, field: '"blocks"', id, frame })

/** Sources of a bundle, as its map has them. */
const from = (texts: Record<string, string>) => ({
  folder: '/p',
  script: 'index.ts',
  bundle: {
    code: '',
    inputs: {},
    map: JSON.stringify({ sources: Object.keys(texts), sourcesContent: Object.values(texts) }),
  },
})

const shown = (...given: Parameters<typeof compareIds>) =>
  compareIds(...given).map(
    ({ file, line, column, severity, message, hint }) =>
      `${file}:${line}:${column} ${severity} ${message}; ${hint}`,
  )

const clip = `import { clip } from 'x'\ncreateComponent({\n  componentId: 'clip', render })\n`

describe('the ids of a manifest and its script', () => {
  it('cause no warning if both have them', () => {
    const defined = { component: ['clip'], contentSource: [] }
    assert.deepEqual(compareIds([named('component', 'clip')], defined, from({ 'index.ts': clip })), [])
  })

  it('are reported at both positions with the nearest name', () => {
    const defined = { component: ['clip'], contentSource: [] }
    assert.deepEqual(shown([named('component', 'clips')], defined, from({ 'index.ts': clip })), [
      '/p/service-manifest.yaml:9:7 warning "blocks" names "clips", and the script defines no component of this id; did you mean "clip"? it defines: clip',
      '/p/index.ts:3:16 warning the script defines the component "clip", and the manifest does not name it; did you mean "clips"? it names: clips',
    ])
  })

  it('of one kind do not count for another kind', () => {
    const defined = { component: ['menu'], contentSource: [] }
    const [first, second] = shown([named('contentSource', 'menu')], defined, from({ 'index.ts': '' }))
    assert.match(first ?? '', /the script defines no content source of this id; it defines: none$/)
    assert.match(second ?? '', /^\/p\/index\.ts:1:1 warning the script defines the component "menu"/)
  })

  it('need no entry for a component that the script itself opens', () => {
    const opening = `${clip}const action = { action: '@ui.modal.open', componentId: "clip" }`
    const defined = { component: ['clip'], contentSource: [] }
    assert.deepEqual(compareIds([], defined, from({ 'index.ts': opening })), [])
    const apart = from({ 'index.ts': `open('clip')`, 'src/clip.ts': clip })
    assert.deepEqual(compareIds([], defined, apart), [])
  })

  it('are searched in the script’s own sources only', () => {
    const defined = { component: ['clip'], contentSource: [] }
    const given = from({
      'node_modules/x/index.js': `'clip' 'clip'`,
      '@annex/runtime/ui.ts': `'clip' 'clip'`,
      'a.ts': clip,
    })
    assert.match(shown([], defined, given)[0] ?? '', /^\/p\/a\.ts:3:16 /)
  })

  it('of a hostile script are compared quickly', () => {
    const component = Array.from({ length: 1_000 }, (_, n) => `${n}'"\\`.padStart(200, 'ab'))
    const given = from({ 'index.ts': `'${component[0]}'`.repeat(10_000) })
    const many = Array.from({ length: 150 }, (_, n) => named('component', `x${n}`.padEnd(64, 'cd')))
    const begun = performance.now()
    assert.equal(compareIds(many, { component, contentSource: [] }, given).length, 50)
    assert.ok(performance.now() - begun < 3_000)
  })
})
