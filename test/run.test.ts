import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readTreeCpu } from './bench/measure/cpu-time.ts'
import { firstOutput } from './support/first-output.ts'
import { findImported } from './support/imports.ts'
import { writeGroup } from './support/test-groups.ts'
import { parseTestHeader, readTestHeader } from './support/test-header.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const noProc = process.platform !== 'linux' && 'the system has no /proc'

describe('the header of a test file', () => {
  it('belongs to make test, on SQLite, without any line', () => {
    const header = parseTestHeader("import test from 'node:test'\n", 'a.test.ts')
    assert.deepEqual(header, { tiers: ['test'], databases: ['SQLite'], cpuSeconds: undefined })
  })

  it('names tier, databases and budget, beside other comments', () => {
    const text =
      '// tier: wall and torture (kills)\n// databases: SQLite and PostgreSQL\n// cpu: 60 s (forty hosts)\n// Each case is a line.\n// biome-ignore-all format: a table\n'
    assert.deepEqual(parseTestHeader(text, 'a.test.ts'), {
      tiers: ['wall', 'torture'],
      databases: ['SQLite', 'PostgreSQL'],
      cpuSeconds: 60,
    })
  })

  for (const [line, message] of [
    ['// tier: wal (kills)', 'a.test.ts:1:1: write it as in "// tier: wall (its loops use every processor)"'],
    ['// tier: wall', 'a.test.ts:1:1: write it as in'],
    ['// tier: wall ()', 'a.test.ts:1:1: write it as in'],
    ['// Tier: wall (kills)', 'a.test.ts:1:1: write it as in'],
    ['// tiers: wall (kills)', 'a.test.ts:1:1: "tiers" is none of tier, databases and cpu'],
    ['//@tear: wall (kills)', 'a.test.ts:1:1: "tear" is none of'],
    ['// databases: MySQL', 'a.test.ts:1:1: write it as in "// databases: SQLite and PostgreSQL"'],
    ['// databases: PostgreSQL and SQLite', 'a.test.ts:1:1: write it as in'],
    ['// cpu: 60', 'a.test.ts:1:1: write it as in "// cpu: 60 s (it starts forty hosts)"'],
    ['// cpu: 0 s (none)', 'a.test.ts:1:1: write it as in'],
    ['\n// cpu: 60 s (hosts)\n// cpu: 90 s (hosts)', 'a.test.ts:3:1: "cpu" stands here twice'],
    [
      "import test from 'node:test'\n// tier: wall (kills)",
      'a.test.ts:2:1: "tier" must stand above the imports',
    ],
  ] as const)
    it(`is refused: ${JSON.stringify(line)}`, () => {
      assert.throws(
        () => parseTestHeader(line, 'a.test.ts'),
        (error: Error) => error.message.startsWith(message),
      )
    })

  const files = globSync('test/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] }).sort()
  const isOfTests = ({ to }: { to: string }) => to.startsWith(join(root, 'test/'))
  const reaches = (file: string, target: string) =>
    findImported([join(root, file)], isOfTests).has(join(root, 'test/support', target))

  it('names torture in each file that has long rounds, and in no other', () => {
    const named = files.filter((file) => readTestHeader(join(root, file)).tiers.includes('torture'))
    assert.deepEqual(
      named,
      files.filter((file) => reaches(file, 'torture.ts')),
    )
  })

  it('names PostgreSQL in each file about the database, the queue or webhooks that opens one', () => {
    const engine = files.filter((file) => /^test\/(db|queue|webhooks|events)\//.test(file))
    const silent = engine
      .filter((file) => reaches(file, 'test-database.ts'))
      .filter((file) => !readTestHeader(join(root, file)).databases.includes('PostgreSQL'))
    assert.deepEqual(silent, [])
  })

  it('names PostgreSQL in each file with cases that are skipped without it', () => {
    const silent = files
      .filter((file) =>
        /\bnoPostgres\b|skip\('needs DATABASE_URL_TEST/.test(readFileSync(join(root, file), 'utf8')),
      )
      .filter((file) => !readTestHeader(join(root, file)).databases.includes('PostgreSQL'))
    assert.deepEqual(silent, [])
  })

  it('names PostgreSQL in no file that cannot open one', () => {
    const vain = files
      .filter((file) => readTestHeader(join(root, file)).databases.includes('PostgreSQL'))
      .filter((file) => !reaches(file, 'test-database.ts'))
    assert.deepEqual(vain, [])
  })
})

const burn = (seconds: number): string =>
  `{ const from = process.cpuUsage(); for (;;) { const { user, system } = process.cpuUsage(from); if (user + system > ${seconds * 1e6}) break } }`

describe('the CPU of a process tree', { skip: noProc }, () => {
  it('counts children that have ended, their children too, and those that run', async (context) => {
    const before = readTreeCpu(process.pid) ?? 0
    const nested = `${burn(0.2)}; require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(burn(0.2))}])`
    spawnSync(process.execPath, ['-e', nested])
    const ended = (readTreeCpu(process.pid) ?? 0) - before
    assert.ok(ended >= 0.38, `${ended} s of two children that have ended`)
    const running = spawn(process.execPath, [
      '-e',
      `${burn(0.2)}; console.log('done'); setInterval(() => {}, 1e6)`,
    ])
    context.after(() => running.kill('SIGKILL'))
    await firstOutput(running)
    const all = (readTreeCpu(process.pid) ?? 0) - before
    assert.ok(all - ended >= 0.18, `${all - ended} s of a child that runs`)
  })

  it('is unknown for a process that there is not', () => {
    assert.equal(readTreeCpu(2 ** 30), undefined)
  })
})

/** Runs the runner in a folder with these test files. */
function runTests(context: TestContext, files: Record<string, string>, args: string[] = ['test']) {
  const folder = mkdtempSync(join(tmpdir(), 'annex-run-'))
  context.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'test'))
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, 'test', `${name}.test.ts`), text)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return spawnSync(process.execPath, [join(root, 'test/run.ts'), ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...env, ANNEX_CI: '', DATABASE_URL_TEST: '' },
  })
}

const passes = "import { it } from 'node:test'\nit('is well', () => {})\n"
const burns = (seconds: number) => `import { it } from 'node:test'\nit('burns', () => ${burn(seconds)})\n`

describe('a run of the tests', () => {
  it('prints what files cost, and passes within the budgets', { skip: noProc }, (context) => {
    const { status, stdout } = runTests(context, { cheap: passes, dear: burns(0.5) })
    assert.equal(status, 0, stdout)
    assert.match(stdout, /^test: +0\.[5-9] {2}test\/dear\.test\.ts\ntest: +0\.\d {2}test\/cheap\.test\.ts$/m)
    assert.match(stdout, /^test: SQLite: passed$/m)
  })

  it('fails when a file is above its budget, and says what to write', { skip: noProc }, (context) => {
    const { status, stdout } = runTests(context, { dear: `// cpu: 1 s (little)\n${burns(1.2)}` })
    assert.equal(status, 1, stdout)
    assert.match(
      stdout,
      /^test: test\/dear\.test\.ts used 1\.\d s of CPU and its budget is 1 s: .*\/\/ cpu: 2 s \(reason\)$/m,
    )
    assert.match(stdout, /^test: SQLite: failed$/m)
  })

  it('fails with a failing test, and names its file', (context) => {
    const fails = "import { it } from 'node:test'\nit('is ill', () => { throw new Error('ill') })\n"
    const { status, stdout } = runTests(context, { ill: fails, cheap: passes })
    assert.equal(status, 1, stdout)
    assert.match(stdout, /✖ test\/ill\.test\.ts/)
  })

  it('says each test to a runner that reads slowly', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'annex-run-'))
    context.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'many.test.mjs')
    const name = 'is one of many, '.repeat(20)
    const tests = `for (let n = 0; n < 3000; n++) it('${name}', () => {})`
    writeFileSync(file, `import { it } from 'node:test'\n${tests}\n`)
    const group = writeGroup(folder, { files: [file], database: { name: 'SQLite', url: '' } }, 0)
    // As the runner of Node starts it.
    const env = { ...process.env, NODE_TEST_CONTEXT: 'child-v8', TEST_BUILDS_FOLDER: folder }
    const { stdout } = spawn(process.execPath, ['--test-force-exit', group], { env })
    let text = ''
    for await (const some of stdout) {
      text += some
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    // The file itself is one more.
    assert.equal(text.match(/test:pass/g)?.length, 3_001)
  })

  it('leaves the files of other tiers and paths alone', (context) => {
    const files = { cheap: passes, other: passes, kills: `// tier: wall (kills)\n${passes}` }
    const test = runTests(context, files)
    assert.match(test.stdout, /✔ test\/cheap\.test\.ts/)
    assert.doesNotMatch(test.stdout, /kills\.test/)
    const wall = runTests(context, files, ['wall'])
    assert.match(wall.stdout, /✔ test\/kills\.test\.ts/)
    assert.doesNotMatch(wall.stdout, /cheap\.test/)
    const some = runTests(context, files, ['test', 'test/oth'])
    assert.match(some.stdout, /✔ test\/other\.test\.ts/)
    assert.doesNotMatch(some.stdout, /cheap\.test/)
  })

  it('runs nothing when a header is misspelled, a tier is none, or no file is meant', (context) => {
    const wrong = runTests(context, { cheap: passes, kills: `// tier: wal (kills)\n${passes}` })
    assert.equal(wrong.status, 2)
    assert.match(wrong.stdout, /^test: test\/kills\.test\.ts:1:1: write it as in/m)
    assert.doesNotMatch(wrong.stdout, /✔/)
    const tier = runTests(context, { cheap: passes }, ['walls'])
    assert.equal(tier.status, 2)
    assert.match(tier.stdout, /there is no tier "walls": write one of test, console, wall, torture/)
    const none = runTests(context, { cheap: passes }, ['test', 'test/nothing'])
    assert.equal(none.status, 2)
    assert.match(none.stdout, /no test file of the tier test stands below test\/nothing/)
  })
})
