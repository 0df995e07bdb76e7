import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertHarmless } from './support/assert-harmless.ts'
import { makeFolder, runAnnex, runProcess } from './support/run-annex.ts'

test('config prints each setting with its value and source, and masks secrets', async (context) => {
  const cwd = await makeFolder(context)
  await writeFile(
    join(cwd, '.env'),
    'HOST=127.0.0.2\nPORT=1\nSECRET_KEY=dGhlLXNlY3JldC1rZXktb2YtdGhpcnR5dHdvYnl0ZXM=\n',
  )
  const env = { PORT: '9000', DATABASE_URL: 'postgres://annex:hunter2@db/annex' }
  const { code, stdout } = await runAnnex(['config', '--print', '--json'], { cwd, env })
  assert.equal(code, 0)
  const rows: { name: string; value: unknown; source: string; meaning: string }[] = JSON.parse(stdout)
  const find = (wanted: string) => {
    const { value, source } = rows.find(({ name }) => name === wanted) ?? {}
    return { value, source }
  }
  assert.deepEqual(find('HOST'), { value: '127.0.0.2', source: '.env' })
  assert.deepEqual(find('PORT'), { value: 9000, source: 'environment' })
  assert.deepEqual(find('DATABASE_URL'), { value: '********', source: 'environment' })
  assert.deepEqual(find('SECRET_KEY'), { value: '********', source: '.env' })
  assert.deepEqual(find('LOG_LEVEL'), { value: 'info', source: 'default' })
  assert.ok(rows.every(({ meaning }) => meaning.length > 0))
  const table = await runAnnex(['config', '--print'], { cwd, env })
  assert.doesNotMatch(table.stdout, /hunter2|dGhlLXNlY3Jl/)
  assertHarmless(table.stdout)
})

test('config names all invalid settings, with exit code 3', async (context) => {
  const env = { PORT: '99999', WATCH: 'perhaps' }
  const { code, stdout, stderr } = await runAnnex(['config'], { cwd: await makeFolder(context), env })
  assert.equal(code, 3)
  assert.equal(stdout, '')
  assert.match(stderr, /PORT: 99999 is not within 0 to 65535 \(from environment\)/)
  assert.match(stderr, /WATCH: "perhaps" is neither true nor false/)
})

test('serve with a HOST of another machine prints an error without a stack', async (context) => {
  const cwd = await makeFolder(context)
  for (const HOST of ['annex.invalid', '192.0.2.1']) {
    const env = {
      HOST,
      PORT: '0',
      DATA_DIR: join(cwd, 'data'),
      PLUGINS_DIR: cwd,
      LOG_LEVEL: 'warn',
    }
    const { code, stdout, stderr } = await runProcess(['serve'], { cwd, env })
    assert.equal(stdout, '')
    assert.match(stderr, /^annex: Annex cannot listen on .* \(E[A-Z]+\)\. Set HOST to /)
    assert.doesNotMatch(stderr, /defect|stack/)
    assert.equal(code, 3)
  }
})

test('serve rejects an OPERATOR_ORGANIZATION that the API would reject', async (context) => {
  const cwd = await makeFolder(context)
  const folders = { DATA_DIR: join(cwd, 'data'), PLUGINS_DIR: cwd }
  for (const name of ['Home Sweet', 'x'.repeat(64)]) {
    const env = { OPERATOR_ORGANIZATION: name, PORT: '0', ...folders, LOG_LEVEL: 'warn' }
    const { code, stdout, stderr } = await runProcess(['serve'], { cwd, env })
    assert.equal(stdout, '')
    assert.match(stderr, /^annex: OPERATOR_ORGANIZATION: "(Home Sweet|x{64})" is no subdomain: .*up to 63/)
    assert.equal(code, 3)
  }
})

test('migrate creates the database without a start; a second run changes nothing', async (context) => {
  const dataDir = join(await makeFolder(context), 'data')
  for (let times = 0; times < 2; times++) {
    const { code, stdout, stderr } = await runAnnex(['migrate'], { env: { DATA_DIR: dataDir } })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^The tables are up to date \(sqlite\)\.\n$/)
  }
  assert.ok((await readdir(dataDir)).includes('annex.sqlite'))
})
