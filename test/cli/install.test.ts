import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { makeFolder, root } from './support/run-annex.ts'

const compilerOutput = Array.from({ length: 45 }, (_, n) => `npm error gyp ERR! line ${n} of node-gyp`).join(
  '\n',
)

/** Runs a target of the real Makefile on a machine that has these tools and an npm that fails with this output. */
async function makeWith(context: TestContext, tools: readonly string[], npmOutput: string) {
  const folder = await makeFolder(context)
  await copyFile(join(root, 'Makefile'), join(folder, 'Makefile'))
  for (const file of ['package.json', 'package-lock.json']) await writeFile(join(folder, file), '{}')
  const bin = join(folder, 'bin')
  await mkdir(bin)
  for (const tool of ['make', 'mkdir', 'touch', 'cat', 'grep', ...tools]) {
    const { stdout } = spawnSync('/bin/sh', ['-c', `command -v ${tool} || command -v true`], {
      encoding: 'utf8',
    })
    await symlink(stdout.trim(), join(bin, tool))
  }
  const npm = `#!/bin/sh\nwhile read -r line; do echo "$line" >&2; done <<'END'\n${npmOutput}\nEND\nexit 1\n`
  await writeFile(join(bin, 'npm'), npm, { mode: 0o755 })
  // bash reads the user's own settings when its input is a socket.
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  return spawnSync('make', ['-C', folder, 'migrate'], {
    encoding: 'utf8',
    env: { PATH: bin },
    stdio: [...stdio],
  })
}

describe('make on a machine without binaries', () => {
  test('prints before the installation that compiling takes minutes', async (context) => {
    const { stdout } = await makeWith(context, [], compilerOutput)
    assert.match(stdout, /^Installing the dependencies: .*three more where sqlite3 has to be compiled\.$/m)
  })

  for (const missing of ['python3', 'g++']) {
    test(`names ${missing} and its packages in one line when the machine lacks it`, async (context) => {
      const tools = ['python3', 'g++'].filter((tool) => tool !== missing)
      const { status, stderr } = await makeWith(context, tools, compilerOutput)
      assert.notEqual(status, 0)
      assert.ok(stderr.includes(`this machine lacks ${missing}.`), stderr)
      assert.match(stderr, /apt-get install python3 g\+\+/)
      assert.doesNotMatch(stderr, /gyp ERR/)
    })
  }

  test('shows the output of npm when the machine has a compiler', async (context) => {
    const { stderr } = await makeWith(context, ['python3', 'g++'], compilerOutput)
    assert.ok(stderr.includes(compilerOutput))
  })

  test('shows the output of npm for another reason', async (context) => {
    const { stderr } = await makeWith(context, [], 'npm error network ECONNREFUSED')
    assert.match(stderr, /ECONNREFUSED/)
    assert.doesNotMatch(stderr, /this machine lacks/)
  })
})
