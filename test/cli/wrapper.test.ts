import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { firstOutput } from '../support/first-output.ts'
import { bin, cleanEnvironment, makeFolder, root } from './support/run-annex.ts'

/** Makes `bin/annex.js` see an older Node, so that it hands over to the Node that npm has installed. */
const olderNode = `data:text/javascript,if(process.argv[1]?.endsWith('annex.js')&&!process.env.HANDED_OVER){
  process.env.HANDED_OVER='1';Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.0.0'}})}`

/** The only child of a process. */
const childOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])

test('annex under an older Node returns the exit code of an orderly stop and of a killed process', async (context) => {
  const dataDir = await makeFolder(context)
  const env = { ...cleanEnvironment, DATA_DIR: dataDir, LOG_LEVEL: 'error' }
  const serve = ['--import', olderNode, bin, 'serve', '--json', '--port', '0']
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGKILL', 137],
  ] as const) {
    const wrapper = spawn(process.execPath, serve, {
      cwd: dataDir,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(wrapper, 'exit')
    await firstOutput(wrapper)
    const host = childOf(wrapper.pid ?? 0)
    assert.ok(host > 0)
    if (signal === 'SIGKILL') process.kill(host, signal)
    else wrapper.kill(signal)
    assert.deepEqual(await ended, [code, null], signal)
  }
})

const unprivileged = 65_534

test('npx annex works for an unprivileged user whose code belongs to root', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('needs root, to become another user')
  const folder = await makeFolder(context)
  // As a clone that root has installed: the wrapper is its own, the rest is this one's.
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  for (const path of ['host', 'runtime', 'schemas']) symlinkSync(join(root, path), join(folder, path))
  const {
    dependencies: _,
    devDependencies: __,
    ...own
  } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify(own))
  execFileSync('npm', ['install', '--offline', '--loglevel=error'], { cwd: folder })
  chmodSync(folder, 0o755)
  const home = await makeFolder(context)
  chmodSync(home, 0o777)
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, TMPDIR: tmpdir() }
  const output = execFileSync('npx', ['annex', '--version'], {
    cwd: folder,
    env,
    uid: unprivileged,
    gid: unprivileged,
    encoding: 'utf8',
  })
  assert.match(output, /^\d+\.\d+\.\d+$/m)
})
