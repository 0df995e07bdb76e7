import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findServer } from '../../host/cli/session.ts'
import { makeFolder } from './support/run-annex.ts'

const url = 'http://127.0.0.1:4001'

async function makeDataDir(context: TestContext, pid: number): Promise<string> {
  const folder = await makeFolder(context)
  await writeFile(join(folder, 'server.json'), JSON.stringify({ url, pid }))
  await writeFile(join(folder, 'cli.token'), 'annex_cli_own\n')
  return folder
}

const settingsOf = (dataDir: string, host = '127.0.0.1') => ({ DATA_DIR: dataDir, HOST: host, PORT: 8787 })

test('a command finds the server of this data folder, with its token', async (context) => {
  const settings = settingsOf(await makeDataDir(context, process.pid))
  assert.deepEqual(findServer({}, settings, {}), { url, token: 'annex_cli_own' })
  assert.deepEqual(findServer({ url: 'http://localhost:4001' }, settings, {}).token, 'annex_cli_own')
})

test('the token of the data folder is sent to no other server', async (context) => {
  const settings = settingsOf(await makeDataDir(context, process.pid))
  for (const other of [
    'http://127.0.0.1:4002',
    'https://annex.example.com',
    'http://localhost.example.com:4001',
  ]) {
    assert.equal(findServer({ url: other }, settings, {}).token, undefined, other)
    assert.equal(findServer({}, settings, { ANNEX_URL: other }).token, undefined, other)
  }
})

test('the files of a killed server are ignored: another program may have its port', async (context) => {
  const { pid } = spawnSync(process.execPath, ['--version'])
  const settings = settingsOf(await makeDataDir(context, pid))
  assert.deepEqual(findServer({}, settings, {}), { url: 'http://127.0.0.1:8787' })
})

test('a flag has priority over the environment, and a named token over the one of the data folder', async (context) => {
  const settings = settingsOf(await makeDataDir(context, process.pid))
  const environment = { ANNEX_URL: 'http://127.0.0.1:1', ANNEX_TOKEN: 'from-environment' }
  assert.deepEqual(findServer({ url, token: 'from-flag' }, settings, environment), {
    url,
    token: 'from-flag',
  })
  assert.deepEqual(findServer({}, settings, environment), {
    url: 'http://127.0.0.1:1',
    token: 'from-environment',
  })
  const path = join(settings.DATA_DIR, 'token')
  await writeFile(path, 'from-file\n')
  assert.equal(findServer({}, settings, { ANNEX_TOKEN_FILE: path }).token, 'from-file')
})

test('without a running server the URL comes from HOST and PORT', async (context) => {
  const folder = await makeFolder(context)
  assert.equal(findServer({}, settingsOf(folder, '0.0.0.0'), {}).url, 'http://127.0.0.1:8787')
  assert.equal(findServer({}, settingsOf(folder, '::1'), {}).url, 'http://[::1]:8787')
})
