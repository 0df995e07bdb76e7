import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startAnnex } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { makeFolder, root, runAnnex, runProcess } from './support/run-annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('served') })`

/** A folder that cannot be read, and what the start says of it. */
const unreadable: [what: string, make: (path: string) => void, why: RegExp][] = [
  ['does not exist', () => {}, /does not exist \(ENOENT\)/],
  ['is a file', (path) => writeFileSync(path, ''), /is not a folder \(ENOTDIR\)/],
  [
    'lies below a file',
    (path) => writeFileSync(path.replace(/\/plugins$/, ''), ''),
    /is not a folder \(ENOTDIR\)/,
  ],
  [
    'is a link to nothing',
    (path) => symlinkSync('nothing', path),
    /is a link to a folder that does not exist/,
  ],
  ['is a link to itself', (path) => symlinkSync(path, path), /is a link that leads to itself \(ELOOP\)/],
]

describe('a PLUGINS_DIR that', () => {
  for (const [what, make, why] of unreadable) {
    it(`${what} ends the start with its reason`, async (context) => {
      const cwd = await makeFolder(context)
      const path = what === 'lies below a file' ? join(cwd, 'file', 'plugins') : join(cwd, 'plugins')
      make(path)
      const env = { PLUGINS_DIR: path, DATA_DIR: join(cwd, 'data'), PORT: '0', LOG_LEVEL: 'warn' }
      for (const run of [
        () => runProcess(['serve'], { cwd, env }),
        () => runAnnex(['check'], { cwd, env }),
      ]) {
        const { code, stdout, stderr } = await run()
        assert.deepEqual([code, stdout], [3, ''], stderr)
        assert.match(stderr, new RegExp(`^annex: PLUGINS_DIR: ${path} ${why.source}`))
        assert.match(stderr, /Name the folder whose sub-folders are integrations, or make it\.\n$/)
        assert.doesNotMatch(stderr, /\n {2,}at |defect/)
      }
    })
  }

  it('cannot be read ends the start with its reason', async (context) => {
    const cwd = await makeFolder(context)
    chmodSync(cwd, 0o755)
    const path = join(cwd, 'plugins')
    mkdirSync(path, { mode: 0o300 })
    // The root user may read all: another user tries it.
    const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const code = `import { listPluginFolders } from '${root}/host/versions/plugins-dir.ts'
    await listPluginFolders({ path: '${path}', isDefault: true }).catch((error) => console.log(error.code, error.message))`
    const args = ['--input-type=module', '-e', code]
    const { stdout } = await promisify(execFile)(process.execPath, args, { ...other, cwd: tmpdir() })
    assert.match(
      stdout,
      /^settings_invalid PLUGINS_DIR: .* may not be read by the user that runs Annex \(EACCES\)/,
    )
  })

  it('is not set, and missing or empty, does not stop the start', async (context) => {
    const cwd = await makeFolder(context)
    const env = { PLUGINS_DIR: '', DATA_DIR: join(cwd, 'data') }
    const checked = await runAnnex(['check'], { cwd, env })
    assert.match(checked.stderr, /There is no plugin folder in plugins/)
    mkdirSync(join(cwd, 'plugins'))
    const empty = await runAnnex(['check'], { cwd, env })
    assert.deepEqual([empty.code, empty.stderr], [checked.code, checked.stderr])
    const annex = await startAnnex({ plugins: {} })
    context.after(annex.close)
    assert.equal((await annex.api('POST', '/v1/reload')).status, 200)
  })

  it('is gone at a reload retires no integration', async (context) => {
    const annex = await startAnnex({ plugins: { kept: { script } } })
    context.after(annex.close)
    renameSync(annex.pluginsDir, `${annex.pluginsDir}-away`)
    const { status, json } = await annex.api('POST', '/v1/reload')
    assert.deepEqual([status, json.error.code], [500, 'settings_invalid'])
    assert.match(json.error.message, /^PLUGINS_DIR: .* does not exist \(ENOENT\)/)
    const serves = async () => (await fetch(`${annex.url}/x/kept`)).text()
    assert.equal(await serves(), 'served')
    renameSync(`${annex.pluginsDir}-away`, annex.pluginsDir)
    assert.equal((await annex.api('POST', '/v1/reload')).status, 200)
    rmSync(join(annex.pluginsDir, 'kept'), { recursive: true })
    writePlugin(annex.pluginsDir, 'other', { script })
    const { json: after } = await annex.api('POST', '/v1/reload')
    assert.deepEqual(
      after.items.map(({ name, state }: { name: string; state: string }) => [name, state]),
      [
        ['other', 'loaded'],
        ['kept', 'retired'],
      ],
    )
  })
})
