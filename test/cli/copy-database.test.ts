import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { makeFolder, runAnnex } from './support/run-annex.ts'
import { type Served, startServe } from './support/start-serve.ts'

let served: Served
let from: string

before(async () => {
  served = await startServe()
  from = `sqlite:${join(served.dataDir, 'annex.sqlite')}`
})
after(() => served?.close())

const copy = (...args: string[]) => runAnnex(['copy-database', ...args])

test('copy-database refuses the database of a running Annex, as source and as target', async (context) => {
  const to = `sqlite:${join(await makeFolder(context), 'annex.sqlite')}`
  for (const addresses of [
    [from, to],
    [to, from],
  ]) {
    // The second one needs a file to copy from.
    if (addresses[0] === to)
      await runAnnex(['migrate'], { env: { DATABASE_URL: to, DATA_DIR: await makeFolder(context) } })
    const { code, stdout, stderr } = await copy(...addresses)
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`^annex: An Annex is using the data folder ${served.dataDir}\\. Stop it`))
    assert.equal(stdout, '')
  }
})

test('copy-database refuses to run beside an Annex on its DATA_DIR', async (context) => {
  const to = `sqlite:${join(await makeFolder(context), 'annex.sqlite')}`
  const elsewhere = `sqlite:${join(await makeFolder(context), 'annex.sqlite')}`
  await runAnnex(['migrate'], { env: { DATABASE_URL: elsewhere, DATA_DIR: await makeFolder(context) } })
  const env = { DATABASE_URL: elsewhere, DATA_DIR: served.dataDir }
  const { code, stderr } = await runAnnex(['copy-database', elsewhere, to], { env })
  assert.equal(code, 1)
  assert.match(stderr, /^annex: An Annex is using the data folder/)
})

test('an invalid address is wrong usage, and is not repeated, as it may hold a password', async () => {
  const wrong: [string[], RegExp][] = [
    [['mysql://u:secret@db/annex', from], /^annex: FROM is neither sqlite:PATH nor postgres:\/\/…\n$/],
    [[from, 'postgres://u:secret@db:port/annex'], /^annex: TO is neither/],
    [[from, 'data/annex.sqlite'], /^annex: TO is neither/],
    [[from, 'sqlite:'], /^annex: TO is neither/],
    [[from, 'sqlite::memory:'], /^annex: TO is neither/],
    [[from, from], /^annex: FROM and TO are the same database\.\n$/],
    [[from, from.replace('annex.sqlite', './annex.sqlite')], /are the same database/],
    [[from], /missing required argument 'to'/],
  ]
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await copy(...args)
    assert.equal(code, 2, args.join(' '))
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /secret/)
    assert.equal(stdout, '')
  }
})

test('a missing file is an error, and is not created', async (context) => {
  const folder = await makeFolder(context)
  const { code, stderr } = await copy(`sqlite:${folder}/tpyo.sqlite`, `sqlite:${folder}/to.sqlite`)
  assert.equal(code, 1)
  assert.equal(stderr, `annex: FROM: There is no file ${folder}/tpyo.sqlite.\n`)
  assert.ok(!existsSync(`${folder}/tpyo.sqlite`) && !existsSync(`${folder}/to.sqlite`))
})

test('the error of an unreachable server names the argument', async (context) => {
  const to = `sqlite:${join(await makeFolder(context), 'annex.sqlite')}`
  const { code, stderr } = await copy('postgres://u:secret@127.0.0.1:1/annex', to)
  assert.equal(code, 1)
  assert.equal(
    stderr,
    'annex: FROM: the database cannot be opened: the server cannot be reached (ECONNREFUSED). Start it, or correct host and port of the address.\n',
  )
})

test('the copy of a stopped Annex is complete: counts on stdout, progress on stderr', async (context) => {
  await served.stop()
  const folder = await makeFolder(context)
  const { code, stdout, stderr } = await copy(from, `sqlite:${folder}/annex.sqlite`)
  assert.equal(code, 0, stderr)
  assert.match(
    stdout,
    /^table +rows\norganizations +1\nexternal_ids +0\naccounts +0\nmembers +0\ntokens +\d+\n/,
  )
  assert.match(stdout, /^versions +3$/m)
  assert.match(stderr, /^organizations: 1 of 1\n/)
  assert.match(stderr, /\d+ rows copied\. The secret key is in no database: .*SECRET_KEY.*secret\.key/)
  const again = await copy(from, `sqlite:${folder}/annex.sqlite`)
  assert.equal(again.code, 1)
  assert.match(
    again.stderr,
    /^annex: TO: A copy needs an empty database\. This one has rows in the table organizations\.\n$/,
  )
  const asJson = await copy(from, `sqlite:${folder}/new/annex.sqlite`, '--json')
  const { rows, tables } = JSON.parse(asJson.stdout)
  assert.deepEqual(tables[0], { table: 'organizations', rows: 1 })
  assert.equal(
    rows,
    tables.reduce((sum: number, table: { rows: number }) => sum + table.rows, 0),
  )
})

test('the help of copy-database begins with examples', async () => {
  const { code, stdout } = await copy('--help')
  assert.equal(code, 0)
  assert.match(stdout, /^Examples:\n {2}npx annex copy-database sqlite:data\/annex\.sqlite postgres:/)
})
