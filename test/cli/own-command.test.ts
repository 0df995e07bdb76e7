import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { createProgram } from '../../host/cli/create-program.ts'
import { findOwnCommand } from '../../host/cli/own-command.ts'
import { bin, cleanEnvironment, makeFolder, root } from './support/run-annex.ts'

const run = promisify(execFile)

/** The first example of the help, as a shell shows it. */
async function readExample(file: string, options: { cwd: string; env?: Record<string, string> }) {
  const env = { ...cleanEnvironment, ...options.env }
  const { stdout } = await run(file, ['config', '--help'], { cwd: options.cwd, env })
  const [, example = ''] = /^Examples:\n {2}(.+)\n/.exec(stdout) ?? []
  return example
}

async function makeProject(context: TestContext): Promise<string> {
  const folder = await makeFolder(context)
  writeFileSync(join(folder, 'package.json'), '{"name":"other","private":true}')
  return folder
}

describe('a hint of the command line', () => {
  it('says `npx annex` in the folder of Annex and below it', async () => {
    for (const cwd of [root, join(root, 'docs')]) {
      assert.equal(await readExample(bin, { cwd }), 'npx annex config --print')
    }
  })

  it('says `npx annex` when npx runs it in another project', async (context) => {
    const env = { npm_command: 'exec' }
    assert.equal(await readExample(bin, { cwd: await makeProject(context), env }), 'npx annex config --print')
  })

  it('says `annex` when the shell finds it on its path', async (context) => {
    const cwd = await makeProject(context)
    const folder = join(cwd, 'bin')
    mkdirSync(folder)
    symlinkSync(bin, join(folder, 'annex'))
    const env = { PATH: `${folder}:${process.env.PATH}` }
    assert.equal(await readExample(join(folder, 'annex'), { cwd, env }), 'annex config --print')
    assert.equal(await readExample(join(folder, 'annex'), { cwd }), `${folder}/annex config --print`)
  })

  it('names its own file elsewhere, and that command runs', async (context) => {
    for (const cwd of [await makeProject(context), await makeFolder(context)]) {
      const example = await readExample(bin, { cwd })
      assert.equal(example, `${bin} config --print`)
      const { stdout } = await run('sh', ['-c', example], { cwd, env: cleanEnvironment })
      assert.match(stdout, /DATA_DIR/)
    }
  })

  it('quotes its path for the shell', async (context) => {
    const folder = join(await makeFolder(context), "it's here")
    mkdirSync(folder)
    symlinkSync(bin, join(folder, 'annex'))
    const command = findOwnCommand({ argv: ['node', join(folder, 'annex')], env: {}, cwd: folder })
    const { stdout } = await run('sh', ['-c', `${command} --version`], { cwd: folder, env: cleanEnvironment })
    assert.match(stdout, /^\d+\.\d+\.\d+/)
  })

  it('names bin/annex.js when make or a script runs the sources', () => {
    const argv = ['node', join(root, 'host/cli/main.ts')]
    assert.equal(findOwnCommand({ argv, env: {}, cwd: '/' }), bin)
    assert.equal(findOwnCommand({ argv, env: {}, cwd: dirname(bin) }).endsWith('annex.js'), true)
    assert.equal(findOwnCommand({ argv, env: {}, cwd: root.replace(/\/$/, '') }), 'npx annex')
  })

  it('is shown with an error, too', async (context) => {
    const cwd = await makeProject(context)
    const error = await run(bin, ['diff', 'webhook', 'x'], { cwd, env: cleanEnvironment }).catch(
      (failure) => failure,
    )
    assert.match(error.stderr, new RegExp(`${bin} versions NAME lists them`))
  })
})

describe('texts', () => {
  const names = createProgram('0', process).commands.map((command) => command.name())
  const bare = new RegExp(`(?<!npx )(?<![\\w/@.-])annex (?:${names.join('|')})\\b`)
  /** Comments, examples (`withExamples` writes the command of the reader into them), and the head of generated files. */
  const isExempt = (line: string) =>
    /^\s*(?:\*|\/\*\*|\/\/)/.test(line) ||
    /withExamples\(|Generated from the manifest/.test(line) ||
    /^\s*['`](?:\w+=(?:\S+ |\$\())?annex /.test(line)

  it('of Annex name each command as `npx annex …`', () => {
    const found = globSync('{host,schemas/api,docs}/**/*.{ts,json,md}', { cwd: root }).flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, n) => (bare.test(line) && !isExempt(line) ? [`${file}:${n + 1}: ${line}`] : [])),
    )
    assert.deepEqual(found, [])
  })
})
