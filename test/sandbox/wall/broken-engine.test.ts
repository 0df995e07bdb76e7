import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildProcessCode } from '../../../host/bundle/build-runtime.ts'
import { explainFailure } from '../../../host/sandbox/wall/explain-failure.ts'
import { runProbe } from '../../../host/sandbox/wall/run-probe.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const copy = mkdtempSync(join(tmpdir(), 'annex-copy-'))
after(() => rmSync(copy, { recursive: true, force: true }))

/** A second Annex whose native module is a copy that can be broken; the other packages are the real ones. */
before(() => {
  for (const name of ['host', 'runtime', 'schemas', 'package.json', 'package-lock.json']) {
    cpSync(join(root, name), join(copy, name), { recursive: true })
  }
  mkdirSync(join(copy, 'node_modules'))
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === 'isolated-vm' || name === 'node-gyp-build') continue
    symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
  }
  for (const name of ['node-gyp-build', 'isolated-vm']) {
    cpSync(join(root, 'node_modules', name), join(copy, 'node_modules', name), {
      recursive: true,
      filter: (path) => !/isolated-vm\/(?:src|vendor)|\.tgz$/.test(path),
    })
  }
})

function annex(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(copy, 'host/cli/main.ts'), ...args], {
    cwd: copy,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'error' },
    timeout: 60_000,
  })
  return { status, stdout, stderr }
}

describe('the native module isolated-vm', () => {
  it('loads in the unchanged copy', () => {
    const { status, stdout } = annex('doctor', '--json')
    assert.equal(status, 0, stdout)
    assert.equal(JSON.parse(stdout).nativeModule, true)
  })

  it('gives one error with the fix if it is damaged or built for another machine', () => {
    const builds = join(copy, 'node_modules/isolated-vm/prebuilds', `${process.platform}-${process.arch}`)
    for (const name of readdirSync(builds)) writeFileSync(join(builds, name), 'no library')
    assertRefused(/not one for this machine, or it is damaged/, /Delete node_modules[\s\S]*npm install/)
  })

  it('gives one error with the fix without a binary, and if it is not installed', () => {
    rmSync(join(copy, 'node_modules/isolated-vm/prebuilds'), { recursive: true })
    assertRefused(/no binary for this system/, /npm rebuild isolated-vm/)
    rmSync(join(copy, 'node_modules/isolated-vm'), { recursive: true })
    assertRefused(/isolated-vm is not installed/, /npm install/)
  })

  function assertRefused(what: RegExp, fix: RegExp): void {
    const served = annex('serve')
    assert.equal(served.status, 4, served.stderr)
    assert.equal(served.stdout, '')
    assert.match(served.stderr, /^annex: No sandbox can run on this machine: /)
    assert.match(served.stderr, what)
    assert.match(served.stderr, fix)
    assert.doesNotMatch(served.stderr, /\n {4}at /)
    const examined = annex('doctor', '--json')
    assert.equal(examined.status, 1)
    assert.match(JSON.parse(examined.stdout).error.message, what)
  }

  it('is a clear error if it hangs', async () => {
    const result = await runProbe({ enclosure: [], code: 'for (;;);' }, 300)
    assert.ok('how' in result)
    assert.match(explainFailure(result).message, /hangs while it loads[\s\S]*another C library/)
  })

  it('is a clear error if it crashes the process', async () => {
    const result = await runProbe({ enclosure: [], code: 'process.abort()' })
    assert.ok('how' in result)
    assert.match(explainFailure(result).message, /isolated-vm crashed/)
  })

  it('gives an error with the fix on other systems and versions of Node', () => {
    for (const [errorOutput, expected] of [
      [
        'was compiled against a different Node.js version using\nNODE_MODULE_VERSION 137.',
        /another version of Node/,
      ],
      ["Error: /lib/libc.so.6: version `GLIBC_2.38' not found", /not one for this machine/],
      ['Error: Error loading shared library ld-linux-x86-64.so.2: No such file', /not one for this machine/],
      ['node: bad option: --permission', /does not know the options/],
    ] as const) {
      const error = explainFailure({ errorOutput, how: 'it ended', hung: false })
      assert.equal(error.code, 'sandbox_unavailable')
      assert.match(error.message, expected)
    }
  })

  it('is the only dependency of the bundled code for a sandbox process', async () => {
    const { main, probe } = await buildProcessCode()
    for (const text of [main, probe]) {
      const required = [...text.matchAll(/require\("([^"]+)"\)/g)].map((match) => match[1] ?? '')
      assert.ok(required.length > 0)
      assert.deepEqual(
        required.filter((name) => !name.startsWith('node:')),
        [],
      )
    }
  })
})
