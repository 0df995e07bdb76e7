import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { bin, cleanEnvironment, makeFolder } from './support/run-annex.ts'

const noPrlimit =
  spawnSync('prlimit', ['--version']).status === 0 ? false : 'needs prlimit, which comes with util-linux'

/** The first one is too little for the tables, the second for the code of sandboxes. */
for (const bytes of [50_000, 700_000]) {
  test(`serve on a disk with room for ${bytes} bytes says that there is no more`, {
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
