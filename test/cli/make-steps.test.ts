import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeFolder, root } from './support/run-annex.ts'

/** Runs a target of the real Makefile in a folder whose tools only print how they were called; some fail. */
async function make(context: TestContext, target: string, failing: string) {
  const folder = await makeFolder(context)
  await copyFile(join(root, 'Makefile'), join(folder, 'Makefile'))
  const tools = join(folder, 'node_modules/.bin')
  await mkdir(tools, { recursive: true })
  for (const file of ['.env', 'package.json', 'package-lock.json', 'node_modules/.installed'])
    await writeFile(join(folder, file), '')
  for (const tool of ['tsc', 'node', 'biome']) {
    const script = `#!/bin/sh\necho "ran ${tool} $*"\ncase "${tool} $*" in ${failing}) exit 1;; esac\n`
    await writeFile(join(tools, tool), script)
    await chmod(join(tools, tool), 0o755)
  }
  return spawnSync('make', ['-C', folder, target], { encoding: 'utf8' })
}

test('make check runs every step and names the failed ones', async (context) => {
  const { status, stdout, stderr } = await make(context, 'check', '"node host/cli/main.ts types --check"')
  assert.notEqual(status, 0)
  for (const step of ['tsc -p .', 'node test/support/compile-plugins.ts', 'biome check .'])
    assert.ok(stdout.includes(`ran ${step}\n`))
  assert.match(stderr, /^check: failed: node host\/cli\/main\.ts types --check$/m)
  assert.doesNotMatch(stdout, /are in order/)
  const sound = await make(context, 'check', 'nothing')
  assert.equal(sound.status, 0, sound.stderr)
  assert.match(sound.stdout, /are in order/)
})

test('make types compiles scripts despite a broken manifest', async (context) => {
  const { status, stdout, stderr } = await make(context, 'types', '"node host/cli/main.ts types"')
  assert.notEqual(status, 0)
  assert.match(stdout, /ran node test\/support\/compile-plugins\.ts$/m)
  assert.match(stderr, /^types: failed: node host\/cli\/main\.ts types$/m)
})
