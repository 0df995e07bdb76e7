import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { compile, root } from '../support/compile.ts'
import { bin, cleanEnvironment, makeFolder, runAnnex } from './support/run-annex.ts'
import { startServe } from './support/start-serve.ts'

/** Runs `annex` in an empty folder, with plugins of its own. */
async function workIn(context: TestContext) {
  const cwd = await makeFolder(context)
  const pluginsDir = join(cwd, 'plugins')
  const annex = (...args: string[]) => runAnnex(args, { cwd, env: { PLUGINS_DIR: 'plugins' } })
  const readManifest = async (name: string) =>
    parse(await readFile(join(pluginsDir, name, 'service-manifest.yaml'), 'utf8'))
  return { cwd, pluginsDir, annex, readManifest }
}

test('new --yes writes a plugin that passes check, compiles, and answers', async (context) => {
  const { pluginsDir, annex } = await workIn(context)
  const made = await annex('new', 'x', '--yes')
  assert.equal(made.code, 0, made.stderr)
  assert.deepEqual(made.stdout.trim().split('\n'), [
    'plugins/x/index.ts',
    'plugins/x/service-manifest.yaml',
    'plugins/x/generated/integration.ts',
  ])
  assert.match(made.stderr, /npx annex check plugins\/x\n.*npx annex reload.*\n.*curl http:\S+\/x\/x\n/)
  const checked = await annex('check', 'plugins/x')
  assert.equal(checked.code, 0, checked.stdout)
  assert.match(checked.stderr, /0 errors and 0 warnings in 1 plugin folder/)
  assert.equal((await annex('types', '--check')).code, 0)
  const config = { extends: join(root, 'plugins/tsconfig.json'), include: ['*/**/*.ts'] }
  await writeFile(join(pluginsDir, 'tsconfig.json'), JSON.stringify(config))
  assert.equal(await compile(pluginsDir), '')
  const served = await startServe({ PLUGINS_DIR: pluginsDir })
  context.after(served.close)
  const response = await fetch(`${served.url}/x/x`)
  assert.deepEqual(await response.json(), { hello: 'x', method: 'GET' })
})

test('new quotes flag values that YAML would read with another type', async (context) => {
  const { annex, readManifest } = await workIn(context)
  const flags = ['--title', 'Yes: "no" # 1', '--description', '{ a', '--organization', 'acme']
  const { code, stderr } = await annex('new', '1e3', ...flags, '--visibility', 'unlisted')
  assert.equal(code, 0, stderr)
  assert.deepEqual(await readManifest('1e3'), {
    name: '1e3',
    title: 'Yes: "no" # 1',
    description: '{ a',
    organization: 'acme',
    visibility: 'unlisted',
    scopes: [],
    script: './index.ts',
  })
  assert.equal((await annex('check')).code, 0)
})

test('new does not overwrite a folder, and refuses an invalid name', async (context) => {
  const { pluginsDir, annex } = await workIn(context)
  await annex('new', 'x', '--yes')
  await writeFile(join(pluginsDir, 'x', 'index.ts'), '// mine')
  const again = await annex('new', 'x', '--yes')
  assert.equal(again.code, 1)
  assert.match(again.stderr, /plugins\/x exists already\. Choose another name, or remove it\./)
  assert.equal(await readFile(join(pluginsDir, 'x', 'index.ts'), 'utf8'), '// mine')
  for (const name of ['../y', 'a b', 'x--y', '']) {
    const { code, stderr } = await annex('new', name, '--yes')
    assert.equal(code, 2, name)
    assert.match(stderr, /"name"/)
  }
  assert.equal(existsSync(join(pluginsDir, '..', 'y')), false)
})

test('new asks on a terminal for each missing flag', async (context) => {
  if (!existsSync('/usr/bin/script')) return context.skip('this machine has no /usr/bin/script')
  const { cwd, readManifest } = await workIn(context)
  const command = `'${process.execPath}' '${bin}' new asked --organization acme`
  const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
    cwd,
    env: { ...cleanEnvironment, PLUGINS_DIR: 'plugins', SHELL: '/bin/sh', NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  context.after(() => child.kill())
  let output = ''
  // An empty answer takes the default. Each is typed when it is asked for.
  const answers = [
    ['title [Asked] ', 'A title'],
    ['description [', ''],
    ['visibility [private] ', 'public'],
  ] as const
  let asked = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    const [question, answer] = answers[asked] ?? []
    if (question === undefined || !output.includes(question)) return
    asked += 1
    child.stdin.write(`${answer}\n`)
  })
  const [code] = await once(child, 'exit')
  assert.equal(code, 0, output)
  assert.equal(asked, answers.length, output)
  assert.doesNotMatch(output, /organization \[/)
  const { title, description, organization, visibility } = await readManifest('asked')
  assert.deepEqual(
    { title, description, organization, visibility },
    {
      title: 'A title',
      description: 'Answers each request with its name.',
      organization: 'acme',
      visibility: 'public',
    },
  )
})

test('new in a read-only folder names the missing permission, and reports no defect', async (context) => {
  const cwd = await makeFolder(context)
  await mkdir(join(cwd, 'plugins'))
  for (const folder of [cwd, join(cwd, 'plugins')]) await chmod(folder, 0o555)
  // Root may write anywhere: another user tries it then.
  const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const { status, stderr } = spawnSync(process.execPath, [bin, 'new', 'x', '--yes'], {
    cwd,
    encoding: 'utf8',
    ...other,
    env: { ...cleanEnvironment, PLUGINS_DIR: 'plugins', DATA_DIR: join(cwd, 'data') },
  })
  assert.equal(status, 1)
  assert.equal(
    stderr,
    "annex: The user of this command may not do that (EACCES: permission denied, mkdir 'plugins/x'). Change the owner or the mode of the folder, or run it as a user that may.\n",
  )
})
