import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { noFullFile } from '../support/small-disks.ts'
import { bin, cleanEnvironment } from './support/run-annex.ts'
import { type Served, startServe } from './support/start-serve.ts'

let served: Served
let folder: string
let file: string
let passphrase: string
let secret = ''
before(async () => {
  served = await startServe()
  folder = mkdtempSync(join(tmpdir(), 'annex-export-'))
  file = join(folder, 'webhook.annex')
  passphrase = join(folder, 'passphrase.txt')
  writeFileSync(passphrase, 'correct horse battery staple\n')
  const { code, stdout, stderr } = await served.annex('install', 'webhook', '--site', 'sample')
  assert.equal(code, 0, stderr)
  secret = /signing secret \(site sample\) (\S+)/.exec(stdout)?.[1] ?? ''
  assert.notEqual(secret, '')
})
after(async () => {
  await served?.close()
  rmSync(folder, { recursive: true, force: true })
})

test('without a passphrase, or one that is too short, nothing is exported or held', async () => {
  const { code, stderr } = await served.annex('export', 'webhook', '--output', file)
  assert.equal(code, 2)
  assert.match(stderr, /--passphrase-file/)
  const short = join(folder, 'short.txt')
  writeFileSync(short, 'short')
  const refused = await served.annex('export', 'webhook', '-o', file, '--passphrase-file', short)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /12 to 1000 characters/)
  assert.deepEqual(readdirSync(folder).toSorted(), ['passphrase.txt', 'short.txt'])
  assert.ok(!(await served.annex('installations')).stdout.includes('moving'))
})

test('where no file can be written, nothing is held', async () => {
  const nowhere = join(folder, 'none', 'webhook.annex')
  const { code, stderr } = await served.annex(
    ...['export', 'webhook', '--output', nowhere, '--passphrase-file', passphrase],
  )
  assert.equal(code, 2)
  assert.match(stderr, /^annex: The file \S+webhook\.annex cannot be written \(ENOENT.*\)\.\n$/)
  assert.ok(!(await served.annex('installations')).stdout.includes('moving'))
})

test('export writes a file for this user alone, and says what is held and how it goes on', async () => {
  const { code, stdout, stderr } = await served.annex(
    ...['export', 'webhook', '--output', file, '--passphrase-file', passphrase],
  )
  assert.equal(code, 0, stderr)
  assert.equal(stdout, '')
  assert.match(stderr, /annex import .*webhook\.annex\n.*annex resume inst_.*Never both/)
  assert.match(
    stderr,
    /with the same passphrase\n {2}annex import --passphrase-file \S+passphrase\.txt \S+webhook\.annex\n/,
  )
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(!readFileSync(file, 'utf8').includes(secret))
  assert.match((await served.annex('installations')).stdout, /webhook\s+moving/)
  const again = await served.annex('export', 'webhook', '-o', file, '--passphrase-file', passphrase)
  assert.equal(again.code, 2)
  assert.match(again.stderr, /is there already/)
})

test('to stdout it is the same, and nothing else', async () => {
  const { code, stdout } = await served.annex('export', 'webhook', '--passphrase-file', passphrase)
  assert.equal(code, 0)
  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).record)
  assert.deepEqual([records[0], records.at(-1)], ['header', 'end'])
})

test('what cannot be written to the end says so, what is held, and how it goes on', {
  skip: noFullFile,
}, async () => {
  const intoFull = (...args: string[]) =>
    spawnSync(process.execPath, [bin, ...args], {
      env: { ...cleanEnvironment, DATA_DIR: served.dataDir },
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      encoding: 'utf8',
    })
  const exported = intoFull('export', 'webhook', '--passphrase-file', passphrase)
  assert.match(
    exported.stderr,
    /^annex: The export of inst_\S+ is not whole \(ENOSPC.*\)\. It is held here: .*`annex resume inst_\S+`\.\n$/,
  )
  const printed = intoFull('installations')
  assert.match(printed.stderr, /^annex: The output cannot be written \(ENOSPC.*\)\.\n$/)
  assert.deepEqual([exported.status, printed.status], [1, 1])
})

test('import puts it back, and resume starts it', async () => {
  const importIt = (...more: string[]) =>
    served.annex('import', file, '--passphrase-file', passphrase, ...more)
  const refused = await importIt()
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /is here already.*--replace/)
  const { code, stdout, stderr } = await importIt('--replace')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^webhook inst_\S+ moving\n$/)
  assert.match(stderr, /annex resume inst_/)
  assert.equal((await served.annex('resume', 'webhook')).code, 0)
  for (const unreadable of [join(folder, 'none'), folder]) {
    const none = await served.annex('import', unreadable, '--passphrase-file', passphrase)
    assert.equal(none.code, 2)
    assert.match(none.stderr, /^annex: The file \S+ cannot be read \(E(NOENT|ISDIR).*\)\.\n$/)
  }
})

test('a file that is none is an error of the file, exit code 3', async () => {
  const { code, stderr } = await served.annex('import', passphrase, '--passphrase-file', passphrase)
  assert.equal(code, 3)
  assert.match(stderr, /no export of an installation/)
  assert.ok(existsSync(passphrase))
})
