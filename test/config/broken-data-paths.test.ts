import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { openDataFolder, ownDataFolder } from '../../host/db/data-folder.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { closedPort } from '../egress/local-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'annex-data-paths-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'file')
writeFileSync(file, 'this is no database, but text that goes on for a while\n'.repeat(100))

describe('an unusable data path is named by its setting:', () => {
  it('a data folder that is a file or lies below one', async () => {
    for (const dataDir of [file, join(file, 'below')]) {
      await assert.rejects(ownDataFolder(dataDir), {
        code: 'settings_invalid',
        message: /^DATA_DIR: .*a file/,
      })
    }
  })

  it('a database that is not SQLite, a folder, or below a file', async () => {
    mkdirSync(join(folder, 'sub'))
    for (const [path, message] of [
      [file, /^DATABASE_URL: .*not a SQLite database/],
      [join(folder, 'sub'), /^DATABASE_URL: .*cannot be made/],
      [join(file, 'below.sqlite'), /^DATABASE_URL: .*cannot be made/],
    ] as const) {
      await assert.rejects(openDatabase(`sqlite:${path}`, folder), { code: 'settings_invalid', message })
    }
  })

  it('an unreachable PostgreSQL, without its password', async () => {
    const url = `postgres://user:secret@127.0.0.1:${await closedPort()}/annex`
    await assert.rejects(openDatabase(url, folder), (error: Error) => {
      assert.match(error.message, /^DATABASE_URL: .*cannot be reached/)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  })

  it('an address that is not a URL, with the next step', async () => {
    const reaching = (url: string) => openDatabase(url, folder)
    await assert.rejects(reaching('postgres://[nowhere/annex'), /not a URL.*Write it as postgres:/)
    await assert.rejects(reaching('mysql://db/annex'), /neither sqlite:PATH nor postgres:/)
  })
})

const open = (dataDir: string, { databaseUrl = '', beside = [] as string[] } = {}) =>
  openDataFolder({ dataDir, databaseUrl, beside })
const make = (name: string, files: Record<string, string> = {}): string => {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text, { mode: 0o644 })
  return path
}
const key = Buffer.alloc(32, 7).toString('base64')

describe('a data folder', () => {
  it('with files of others is refused, and stays unchanged', async () => {
    const dataDir = make('letters', { 'letter.txt': 'hello' })
    chmodSync(dataDir, 0o755)
    await assert.rejects(open(dataDir), {
      code: 'settings_invalid',
      message: /^DATA_DIR: .*files of others \(letter\.txt\), and none of Annex\. Choose an empty folder/,
    })
    assert.deepEqual(readdirSync(dataDir), ['letter.txt'])
    assert.equal(statSync(dataDir).mode & 0o777, 0o755)
  })

  const taken: [string, string, Record<string, string>, { databaseUrl?: string; beside?: string[] }?][] = [
    ['empty', 'empty', {}],
    ['on its own file system, with files of a repository', 'mounted', { '.gitkeep': '', '.env': '' }],
    ['with only the key, which an operator prepared', 'prepared', { 'secret.key': key }],
    ['with a restored backup', 'restored', { 'annex.sqlite': '', 'secret.key': key }],
    [
      'with the database that DATABASE_URL names',
      'named',
      { 'my.db': '' },
      { databaseUrl: `sqlite:${join(folder, 'named', 'my.db')}` },
    ],
    [
      'with the plugin folders inside',
      'with-plugins',
      { plugins: '' },
      { beside: [join(folder, 'with-plugins/plugins')] },
    ],
  ]
  for (const [what, name, files, given] of taken) {
    it(`is accepted ${what}`, async () => {
      await (await open(make(name, files), given))()
    })
  }

  it('is refused without the database that it had, unless DATABASE_URL names another one', async () => {
    const dataDir = make('lost', { 'cli.token': 'annex_op_x', 'secret.key': key })
    await assert.rejects(
      open(dataDir),
      /database is not there.*set DATABASE_URL.*restore annex\.sqlite.*empty folder/,
    )
    await (await open(dataDir, { databaseUrl: 'postgres://db.example/annex' }))()
  })

  it('is readable for its user only, and so are its files, including older ones', async () => {
    const dataDir = make('open', {
      'annex.sqlite': '',
      'server.json': '{}',
      'host.id': 'x',
      'annex.sqlite-wal': '',
    })
    make('open/cache/wall', { 'a.js': '' })
    make('open/people', { 'theirs.txt': '' })
    const outside = join(make('outside', { 'linked.txt': '' }), 'linked.txt')
    symlinkSync(outside, join(dataDir, 'link'))
    writeFileSync(join(dataDir, 'secret.key'), key, { mode: 0o400 })
    for (const path of ['', 'cache', 'cache/wall']) chmodSync(join(dataDir, path), 0o755)
    const unlock = await open(dataDir)
    const { close } = await openDatabase('', dataDir)
    const modes = Object.fromEntries(
      ['', ...(readdirSync(dataDir, { recursive: true }) as string[])]
        .toSorted()
        .map((path) => [path, (statSync(join(dataDir, path)).mode & 0o777).toString(8)]),
    )
    await close()
    await unlock()
    assert.deepEqual(modes, {
      ...{ '': '700', 'annex.sqlite': '600', 'annex.sqlite-shm': '600', 'annex.sqlite-wal': '600' },
      ...{
        cache: '700',
        'cache/wall': '700',
        'cache/wall/a.js': '600',
        'host.id': '600',
        'server.json': '600',
      },
      ...{ 'secret.key': '400', link: '644', people: '755', 'people/theirs.txt': '644' },
    })
  })

  it('of another user is refused, with the command that fixes it', {
    skip: process.getuid?.() !== 0 && 'needs root, to be another user',
  }, async () => {
    chmodSync(folder, 0o755)
    const own = (name: string, files: Record<string, string>): string => {
      const path = make(name, files)
      for (const file of ['', ...readdirSync(path)]) chownSync(join(path, file), 65_534, 65_534)
      return path
    }
    const files = { 'annex.sqlite': '', 'secret.key': key }
    const ofRoot = make('of-root', files)
    const mixed = own('mixed', files)
    chownSync(join(mixed, 'annex.sqlite'), 0, 0)
    const closed = own('closed', {})
    chmodSync(closed, 0o500)
    const cases: [string, RegExp][] = [
      [ofRoot, /belongs to the user 0, and this process runs as 65534.*chown -R 65534/],
      [mixed, /annex\.sqlite cannot be read and written: it belongs to the user 0/],
      [closed, /its mode forbids it/],
      [join(ofRoot, 'sub'), /cannot be made: this user may not write above it/],
    ]
    for (const [dataDir, message] of cases) {
      const opening = `import('${new URL('../../host/db/data-folder.ts', import.meta.url).pathname}')
        .then(({ openDataFolder }) => openDataFolder({ dataDir: '${dataDir}', databaseUrl: '', beside: [] }))
        .then(() => console.log('opened'), ({ message }) => console.log(message))`
      const child = spawn(process.execPath, ['-e', opening], { uid: 65_534, gid: 65_534, env: {} })
      assert.match(await text(child.stdout), message)
    }
    assert.ok(existsSync(join(ofRoot, 'annex.sqlite')))
  })
})
