import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/annex.ts'
import { shareBuilds } from '../support/kept-builds.ts'
import { noFullFile, noPrlimit } from '../support/small-disks.ts'
import { bin, cleanEnvironment, makeFolder } from './support/run-annex.ts'

/** The first one is too little for the tables, the second for the code of sandboxes. */
for (const bytes of [50_000, 700_000]) {
  test(`serve on a disk with room for ${bytes} bytes reports a full disk`, {
    skip: noPrlimit,
  }, async (context) => {
    const started = spawnSync(
      'prlimit',
      [`--fsize=${bytes}`, process.execPath, bin, 'serve', '--port', '0'],
      {
        env: { ...cleanEnvironment, DATA_DIR: await makeFolder(context), LOG_LEVEL: 'error' },
        encoding: 'utf8',
        timeout: 30_000,
        killSignal: 'SIGKILL',
      },
    )
    assert.match(started.stderr, /^annex: .*the disk takes no more.*\n$/i)
    assert.ok([1, 3].includes(started.status ?? 0), `it ended with ${started.status}`)
  })
}

test('serve runs although it cannot write its banner and its log', {
  skip: noFullFile,
}, async (context) => {
  const dataDir = await makeFolder(context)
  shareBuilds(dataDir)
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0'], {
    env: { ...cleanEnvironment, DATA_DIR: dataDir, LOG_LEVEL: 'trace' },
    stdio: ['ignore', full, full],
  })
  context.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const file = join(dataDir, 'server.json')
  const read = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  await until(
    async () => child.exitCode !== null || read().includes('}'),
    (is) => is,
  )
  assert.equal(child.exitCode, null, 'it runs')
  const { url } = JSON.parse(read())
  await until(
    async () => (await fetch(`${url}/readyz`)).status,
    (status) => status === 200,
  )
  assert.equal((await fetch(`${url}/x/echo`, { method: 'POST' })).status, 200)
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [143, null])
})
