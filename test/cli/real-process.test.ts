import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { noFullFile } from '../support/small-disks.ts'
import { writePlugin } from './support/plugin-folder.ts'
import { bin, cleanEnvironment, makeFolder, type Ran, runAnnex, runProcess } from './support/run-annex.ts'
import { type Started, startInProcess } from './support/start-in-process.ts'

// Other tests run commands in their own process (`runAnnex`). These prove that the real one does the same.

let served: Started
before(async () => {
  served = await startInProcess()
})
after(() => served?.close())

/** Without what differs between two runs. */
const same = ({ code, stdout, stderr }: Ran) =>
  [code, stdout, stderr].map((part) => String(part).replaceAll(/\b(req|evt)_\S+/g, '$1_'))

/** The arguments, and the exit code. */
const commands: [string[], number][] = [
  [['--version'], 0],
  [['--help'], 0],
  [[], 2],
  [['integrations'], 0],
  [['integrations', '--json'], 0],
  [['sites', 'change', 'sample', '--title', 'Sample site'], 0],
  [['events', 'publish', 'site_view', '--follow'], 0],
  [['installations', 'nope'], 1],
  [['problems', '--json'], 0],
  [['config'], 0],
  [['logs', '--limit', 'many'], 2],
  [['diff', 'webhook', 'x'], 2],
  [['sites', 'delete', 'sample'], 2],
  [['check', 'broken'], 3],
]

describe('the real process', () => {
  for (const [args, code] of commands) {
    it(`writes and ends as a command in the process of a test does: annex ${args.join(' ')}`, async (context) => {
      const cwd = await makeFolder(context)
      await writePlugin(join(cwd, 'broken'), { manifest: 'title: x\n' })
      await writeFile(join(cwd, '.env'), 'HOST=127.0.0.1\n')
      const options = { cwd, env: { DATA_DIR: served.dataDir } }
      const real = await runProcess(args, options)
      assert.equal(real.code, code, real.stderr)
      assert.deepEqual(same(real), same(await runAnnex(args, options)))
    })
  }

  /** `annex config`, with its output here. */
  const start = (stdout: number | 'pipe') =>
    spawn(process.execPath, [bin, 'config'], {
      cwd: served.dataDir,
      env: cleanEnvironment,
      stdio: ['ignore', stdout, 'pipe'],
    })

  it('ends well when the reader of its output ends', async () => {
    const child = start('pipe')
    child.stdout?.destroy()
    const ended = once(child, 'exit')
    assert.equal(await text(child.stderr as NodeJS.ReadableStream), '')
    assert.deepEqual(await ended, [0, null])
  })

  it('says that its output cannot be written', { skip: noFullFile }, async () => {
    const child = start(openSync('/dev/full', 'w'))
    const ended = once(child, 'exit')
    assert.match(
      await text(child.stderr as NodeJS.ReadableStream),
      /^annex: The output cannot be written \(.*ENOSPC.*\)\.\n$/,
    )
    assert.deepEqual(await ended, [1, null])
  })
})

it('a command leaves the environment, the folder and the exit code of a test’s process alone', async (context) => {
  const [folder, exitCode] = [process.cwd(), process.exitCode]
  const env = { ANNEX_URL: 'http://127.0.0.1:1', PORT: 'none' }
  const cwd = await makeFolder(context)
  const other = await makeFolder(context)
  await writeFile(join(cwd, '.env'), 'OPERATOR_ORGANIZATION=one\n')
  await writeFile(join(other, '.env'), 'OPERATOR_ORGANIZATION=other\n')
  const settings = ['config', '--json']
  const [invalid, one, two] = await Promise.all([
    runAnnex(settings, { env }),
    runAnnex(settings, { cwd }),
    runAnnex(settings, { cwd: other }),
  ])
  assert.equal(invalid.code, 3, invalid.stderr)
  assert.match(one.stdout, /"value": "one"/)
  assert.match(two.stdout, /"value": "other"/)
  assert.deepEqual([process.cwd(), process.exitCode], [folder, exitCode])
  for (const name of Object.keys(env)) assert.notEqual(process.env[name], env[name as keyof typeof env])
})
