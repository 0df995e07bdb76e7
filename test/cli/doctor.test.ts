import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertHarmless } from './support/assert-harmless.ts'
import { cleanEnvironment, makeFolder, runAnnex, runProcess } from './support/run-annex.ts'

test('doctor shows each level of the wall and the attempts of a sandbox process', async (context) => {
  const cwd = await makeFolder(context)
  const { code, stdout, stderr } = await runAnnex(['doctor'], { cwd })
  assert.equal(code, 0, stderr)
  for (const level of ['isolate', 'process', 'watchdog', 'heartbeat']) {
    assert.match(stdout, new RegExp(`^${level} +reached`, 'm'))
  }
  assert.match(stdout, /^namespace +(?:not )?reached/m)
  assert.match(stdout, /^read \/etc\/passwd +held +ERR_ACCESS_DENIED$/m)
  assert.match(stdout, /Scripts can run here\.\n$/)
  assertHarmless(stdout)
})

test('without a required level doctor ends with 1 and serve with 4, each with the fix', async (context) => {
  const cwd = await makeFolder(context)
  await writeFile(
    join(cwd, 'unshare'),
    '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2\nexit 1\n',
    { mode: 0o755 },
  )
  const env = { PATH: `${cwd}:${cleanEnvironment.PATH}`, SANDBOX_REQUIRE: 'namespace', PORT: '0' }
  const examined = await runProcess(['doctor', '--json'], { cwd, env })
  assert.equal(examined.code, 1)
  const { ok, missing, levels } = JSON.parse(examined.stdout)
  assert.deepEqual([ok, missing], [false, ['namespace']])
  const { shown, fix } = levels.find(({ name }: { name: string }) => name === 'namespace')
  assert.match(shown, /Operation not permitted/)
  assert.ok(fix.length > 0)
  const served = await runProcess(['serve'], { cwd, env: { ...env, LOG_LEVEL: 'error' } })
  assert.equal(served.code, 4)
  assert.match(
    served.stderr,
    /^annex: The wall around sandboxes .* \(SANDBOX_REQUIRE\):\n {2}namespace: .*\n {4}/,
  )
  assert.ok(served.stderr.includes(fix), served.stderr)
})
