import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { firstOutput } from '../support/first-output.ts'
import { bin, cleanEnvironment, makeFolder, runAnnex, runProcess } from './support/run-annex.ts'
import { type Served, startServe } from './support/start-serve.ts'

let served: Served

before(async () => {
  served = await startServe({ LOG_LEVEL: 'info' })
})
after(async () => {
  await served?.close()
})

test('an operator on the same machine needs no login, as a file for that user has the token', async () => {
  assert.equal((await stat(join(served.dataDir, 'cli.token'))).mode & 0o077, 0)
  const { items }: { items: { name: string }[] } = JSON.parse(
    (await served.annex('integrations', '--json')).stdout,
  )
  assert.deepEqual(items.map(({ name }) => name).sort(), ['echo', 'handbook-stats', 'webhook'])
})

test('the setup token works once', async () => {
  const first = await served.annex('setup', served.setupToken)
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^annex_op_\S+\n$/)
  const again = await served.annex('setup', served.setupToken)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /401 unauthorized/)
})

test('organizations, sites, spaces and tokens can be created, and a token sees its own organization only', async (context) => {
  assert.match((await served.annex('orgs', 'create', 'acme', '--title', 'Acme')).stdout, /^org_\S+\n$/)
  assert.match((await served.annex('sites', 'create', 'docs', '--org', 'acme')).stdout, /^site_\S+\n$/)
  const folder = await makeFolder(context)
  const space = await served.annex('spaces', 'create', 'notes', '--org', 'acme', '--folder', folder)
  assert.match(space.stdout, /^space_\S+\n$/, space.stderr)
  const token = (await served.annex('tokens', 'new', '--org', 'acme')).stdout.trim()
  const env = { ANNEX_URL: served.url, ANNEX_TOKEN: token }
  const orgs = await runAnnex(['orgs', '--json'], { env })
  assert.equal(JSON.parse(orgs.stdout).items[0].subdomain, 'acme')
  assert.equal(JSON.parse((await runAnnex(['installations', '--json'], { env })).stdout).count, 0)
})

test('an unknown name is answered with the nearest one', async () => {
  const site = await served.annex('install', 'echo', '--site', 'sampel')
  assert.equal(site.code, 1)
  assert.match(site.stderr, /no site "sampel"; did you mean "sample"\?/)
  const org = await served.annex('tokens', 'new', '--org', 'hme')
  assert.match(org.stderr, /no organization "hme".*did you mean "home"\?/)
})

test('a second server on the same port ends with one line and exit code 1', async (context) => {
  const env = { DATA_DIR: await makeFolder(context), PORT: new URL(served.url).port, LOG_LEVEL: 'error' }
  const { code, stdout, stderr } = await runProcess(['serve'], { env })
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /^annex: The port \d+ is taken\..*\n$/)
})

test('serve without a terminal prints lines of JSON, also without --json', async (context) => {
  const env = { DATA_DIR: await makeFolder(context), PORT: '0', LOG_LEVEL: 'info' }
  const ending = new AbortController()
  const child = spawn(process.execPath, [bin, 'serve'], {
    env: { ...cleanEnvironment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: ending.signal,
  })
  child.on('error', () => {})
  context.after(() => ending.abort())
  const [line = ''] = (await firstOutput(child)).split('\n')
  assert.match(JSON.parse(line).url, /^http:/)
})

test('SIGTERM stops serve in order with exit code 143, and removes server.json', async () => {
  assert.equal(JSON.parse(await readFile(join(served.dataDir, 'server.json'), 'utf8')).url, served.url)
  const { code, stderr } = await served.stop('SIGTERM')
  assert.equal(code, 143)
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const told = lines.filter(({ version }) => version !== undefined)
  assert.deepEqual(
    told.map(({ msg }) => msg),
    ['listening', 'ready', 'stopping', 'stopped'],
  )
  assert.equal(new Set(told.map(({ version }) => version)).size, 1)
  assert.equal(told[0].url, served.url)
  await assert.rejects(readFile(join(served.dataDir, 'server.json')), { code: 'ENOENT' })
})
