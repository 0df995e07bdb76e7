import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { watchPlugins } from '../../host/versions/watch-plugins.ts'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const says = (text: string) => `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response(${JSON.stringify(text)}) })`

async function startWatching(context: TestContext, given: Parameters<typeof startAnnex>[0] = {}) {
  const annex = await startAnnex({ ...given, flags: { WATCH: 'true' } })
  context.after(annex.close)
  return annex
}

const answers = (annex: Annex, name: string, wanted: string) =>
  until(
    async () => (await fetch(`${annex.url}/x/${name}`)).text(),
    (text) => text === wanted,
  )

function makeFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'annex-linked-'))
  context.after(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('watch', () => {
  it('sees files in the author’s own folders called generated', async (context) => {
    const script = `import { text } from './generated/text.ts'\n${says('x').replace('"x"', 'text')}`
    const file = (text: string) => `export const text = ${JSON.stringify(text)}\n`
    const files = { 'generated/text.ts': file('one') }
    const annex = await startWatching(context, { plugins: { own: { script, files } } })
    await answers(annex, 'own', 'one')
    writeFileSync(join(annex.pluginsDir, 'own/generated/text.ts'), file('two'))
    await answers(annex, 'own', 'two')
  })

  it('sees hidden files and folders that a script imports', async (context) => {
    const paths = ['.well-known/x.json', '.text.json', 'a/.b/.c/d.json', '.swift/e.json', '.github/f.json']
    const imports = paths.map((path, index) => `import text${index} from './${path}'`).join('\n')
    const texts = paths.map((_, index) => `text${index}`).join(', ')
    const script = `${imports}\n${says('x').replace('"x"', `[${texts}].join()`)}`
    const wanted = paths.map(() => 'one')
    const files = Object.fromEntries(paths.map((path) => [path, '"one"']))
    const annex = await startWatching(context, { plugins: { hidden: { script, files } } })
    await answers(annex, 'hidden', wanted.join())
    for (const [index, path] of paths.entries()) {
      writeFileSync(join(annex.pluginsDir, 'hidden', path), '"two"')
      wanted[index] = 'two'
      await answers(annex, 'hidden', wanted.join())
    }
  })

  it('sees a change beside a file that is written continuously', async (context) => {
    const annex = await startWatching(context, { plugins: { busy: { script: says('one') } } })
    await answers(annex, 'busy', 'one')
    const log = setInterval(() => writeFileSync(join(annex.pluginsDir, 'busy/log.txt'), `${Date.now()}`), 50)
    context.after(() => clearInterval(log))
    writeFileSync(join(annex.pluginsDir, 'busy/index.ts'), says('two'))
    await answers(annex, 'busy', 'two')
  })

  it('loads a linked plugin folder, and sees changes at its real path', async (context) => {
    const annex = await startWatching(context)
    const elsewhere = makeFolder(context)
    const real = writePlugin(elsewhere, 'linked', { script: says('one') })
    symlinkSync(real, join(annex.pluginsDir, 'link'))
    await answers(annex, 'linked', 'one')
    writeFileSync(join(real, 'index.ts'), says('two'))
    await answers(annex, 'linked', 'two')
    // As a release is changed over: the link is replaced by another in one step.
    const next = writePlugin(join(elsewhere, 'next'), 'linked', { script: says('three') })
    symlinkSync(next, join(elsewhere, 'link'))
    renameSync(join(elsewhere, 'link'), join(annex.pluginsDir, 'link'))
    await answers(annex, 'linked', 'three')
    writeFileSync(join(next, 'index.ts'), says('four'))
    await answers(annex, 'linked', 'four')
  })
})

it('a file that is saved while the watch begins counts as changed', async (context) => {
  const folder = makeFolder(context)
  writePlugin(folder, 'early', { script: says('one') })
  let changes = 0
  context.after(
    watchPlugins(folder, () => {
      changes += 1
    }),
  )
  writeFileSync(join(folder, 'early', 'index.ts'), says('two'))
  await until(
    async () => changes,
    (count) => count > 0,
  )
})

it('repositories, packages and editor files are not watched', async (context) => {
  const folder = makeFolder(context)
  writePlugin(folder, 'quiet', { script: says('one') })
  const write = (path: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), 'x')
  }
  const changed: number[] = []
  context.after(watchPlugins(folder, () => changed.push(Date.now())))
  const waitForChange = async (path: string) => {
    const { length } = changed
    write(path)
    await until(
      async () => changed.length,
      (now) => now > length,
    )
  }
  await waitForChange('quiet/index.ts')
  const quiet = [
    '.git/index',
    'node_modules/a/index.js',
    '.hg/store',
    '.index.ts.swp',
    '.#index.ts',
    '.DS_Store',
  ]
  for (const path of quiet) write(`quiet/${path}`)
  for (const path of ['.git/index', 'node_modules/a/index.js', '.cache/x']) write(path)
  const { length } = changed
  await setTimeout(1_000)
  assert.equal(changed.length, length)
  await waitForChange('quiet/.well-known/x.json')
})

describe('a linked plugin folder', () => {
  it('is confined to its real path', async (context) => {
    const elsewhere = makeFolder(context)
    writeFileSync(join(elsewhere, 'beside.txt'), 'not theirs')
    const script = `import text from '../beside.txt'\n${says('x').replace('"x"', 'text')}`
    const real = writePlugin(elsewhere, 'linked', { script })
    const annex = await startAnnex()
    context.after(annex.close)
    symlinkSync(real, join(annex.pluginsDir, 'link'))
    const [item] = (await annex.api('POST', '/v1/reload')).json.items
    assert.equal(item.state, 'failed')
    assert.match(item.problems[0].message, /"\.\.\/beside\.txt" lies outside the plugin folder/)
  })

  it('that leads nowhere is refused, and its integration still answers', async (context) => {
    const elsewhere = makeFolder(context)
    const real = writePlugin(elsewhere, 'linked', { script: says('here') })
    const annex = await startAnnex()
    context.after(annex.close)
    const reload = async (): Promise<Json[]> => (await annex.api('POST', '/v1/reload')).json.items
    symlinkSync(real, join(annex.pluginsDir, 'link'))
    await reload()
    renameSync(real, join(elsewhere, 'moved'))
    const [item] = await reload()
    assert.equal(item.state, 'failed')
    assert.equal(item.problems[0].message, 'the plugin folder is a link that leads nowhere')
    assert.equal(await (await fetch(`${annex.url}/x/linked`)).text(), 'here')
  })

  it('cannot be a link to a file', async (context) => {
    const elsewhere = makeFolder(context)
    writeFileSync(join(elsewhere, 'notes.md'), '# Notes')
    const annex = await startAnnex()
    context.after(annex.close)
    symlinkSync(join(elsewhere, 'notes.md'), join(annex.pluginsDir, 'README.md'))
    assert.deepEqual((await annex.api('POST', '/v1/reload')).json.items, [])
  })
})
