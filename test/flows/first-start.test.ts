import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { loadSettings } from '../../host/config/load-settings.ts'
import { startServer } from '../../host/server.ts'
import { root } from '../cli/support/run-annex.ts'
import { request, until } from '../support/annex.ts'
import { reuse as kept } from '../support/kept-builds.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { createStartInProcess } from '../support/sandboxes-in-process.ts'

const good = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('good') })`

// Where no script breaks its process.
const startProcess = createStartInProcess()

test('Annex answers while folders load, and a second start neither tries nor writes again', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-first-start-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const [dataDir, pluginsDir] = [join(folder, 'data'), join(folder, 'plugins')]
  for (const name of ['breaks', 'one', 'two']) {
    const script = name === 'breaks' ? `for (;;) {}\n${good}` : good.replace('good', name)
    writePlugin(pluginsDir, name, { script })
  }
  const flags = { PORT: '0', LOG_LEVEL: 'silent', DATA_DIR: dataDir, PLUGINS_DIR: pluginsDir }
  const load = () => loadSettings({ flags, environment: process.env, envFile: '/nowhere/.env' })
  const seen: unknown[] = []
  let tried = 0
  const reuse: Parameters<typeof startServer>[1] = {
    reuse: {
      wall: kept.wall,
      tryLoad: (tryLoad) => async (version) => {
        tried += 1
        // The first trial runs while the API answers: the announcement has its address.
        if (tried === 1) {
          const { url } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8'))
          seen.push((await request(url, 'GET', '/healthz')).status)
          const ready = await request(url, 'GET', '/readyz')
          seen.push(ready.status, ready.json.folders.ready, ready.json.folders.total)
          const answer = await request(url, 'GET', '/x/one')
          seen.push(answer.status, answer.json.error.code, answer.headers.get('retry-after'))
          seen.push((await request(url, 'GET', '/v1/unknown')).status)
        }
        return tryLoad(version)
      },
    },
  }
  const first = await startServer(load(), reuse)
  try {
    assert.deepEqual(seen, [200, 503, false, 3, 503, 'folders_loading', '5', 404])
    assert.deepEqual(
      first.plugins.map(({ state }) => state),
      ['failed', 'loaded', 'loaded'],
      'a version that breaks its process is the only one that fails',
    )
    assert.equal((await request(first.url, 'GET', '/readyz')).status, 200)
    assert.equal((await request(first.url, 'GET', '/x/one')).text, 'one')
    assert.equal((await request(first.url, 'GET', '/x/breaks')).status, 404)
  } finally {
    await first.close()
  }
  rmSync(join(pluginsDir, 'breaks'), { recursive: true })
  const types = () => statSync(join(pluginsDir, 'one', 'generated', 'integration.ts')).mtimeMs
  const [before, triedBefore] = [types(), tried]
  const second = await startServer(load(), reuse)
  try {
    assert.deepEqual([types(), tried], [before, triedBefore])
    const { text } = await until(
      () => request(second.url, 'GET', '/x/two'),
      ({ status }) => status === 200,
    )
    assert.equal(text, 'two')
  } finally {
    await second.close()
  }
})

test('the earlier version serves while a newer one loads', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-first-start-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const [dataDir, pluginsDir] = [join(folder, 'data'), join(folder, 'plugins')]
  const flags = { PORT: '0', LOG_LEVEL: 'silent', DATA_DIR: dataDir, PLUGINS_DIR: pluginsDir }
  const load = () => loadSettings({ flags, environment: process.env, envFile: '/nowhere/.env' })
  writePlugin(pluginsDir, 'served', { script: good.replace('good', 'old') })
  await (await startServer(load(), { startProcess, reuse: kept })).close()
  writePlugin(pluginsDir, 'served', { script: good.replace('good', 'new') })
  const seen: unknown[] = []
  const server = await startServer(load(), {
    startProcess,
    reuse: {
      wall: kept.wall,
      tryLoad: (tryLoad) => async (version) => {
        const { url } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8'))
        const { status, text } = await request(url, 'GET', '/x/served')
        seen.push(status, text, (await request(url, 'GET', '/readyz')).status)
        return tryLoad(version)
      },
    },
  })
  try {
    assert.deepEqual(seen, [200, 'old', 503])
    assert.equal((await request(server.url, 'GET', '/x/served')).text, 'new')
    assert.equal((await request(server.url, 'GET', '/readyz')).status, 200)
  } finally {
    await server.close()
  }
})

test('a slow first start logs the number of loaded folders', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-first-start-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const pluginsDir = join(folder, 'plugins')
  for (const name of ['quick', 'slow']) writePlugin(pluginsDir, name, { script: good })
  const flags = { PORT: '0', LOG_LEVEL: 'info', DATA_DIR: join(folder, 'data'), PLUGINS_DIR: pluginsDir }
  // A process of its own: its log goes to stderr.
  const code = `
    import { loadSettings } from '${root}/host/config/load-settings.ts'
    import { startServer } from '${root}/host/server.ts'
    const tryLoad = (load) => async (version) => {
      if (version.integration === 'slow') await new Promise((resolve) => setTimeout(resolve, 6_000))
      return load(version)
    }
    const loaded = loadSettings({ flags: ${JSON.stringify(flags)}, environment: {}, envFile: '/nowhere/.env' })
    const server = await startServer(loaded, { reuse: { wall: (_, reach) => reach(), tryLoad } })
    await server.close()
    process.exit()`
  const file = join(folder, 'start.mjs')
  writeFileSync(file, code)
  const { stderr } = await promisify(execFile)(process.execPath, ['--no-node-snapshot', file])
  const lines = stderr.split('\n').filter((line) => line.includes('loading plugin folders'))
  assert.ok(lines.length > 0, stderr)
  const said = lines.map((line) => JSON.parse(line))
  for (const { loaded, folders, msg } of said) {
    assert.equal(msg, `loading plugin folders: ${loaded} of ${folders}`)
    assert.ok(loaded <= folders, msg)
  }
  assert.ok(said.some(({ folders }) => folders === 2))
})

test('a stop during the first load ends it, and the next start loads all folders', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-first-start-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const pluginsDir = join(folder, 'plugins')
  for (const name of ['one', 'two']) writePlugin(pluginsDir, name, { script: good })
  const flags = {
    PORT: '0',
    LOG_LEVEL: 'silent',
    DATA_DIR: join(folder, 'data'),
    PLUGINS_DIR: pluginsDir,
  }
  const loaded = loadSettings({ flags, environment: process.env, envFile: '/nowhere/.env' })
  const stopping = new AbortController()
  const start = startServer(loaded, {
    startProcess,
    signal: stopping.signal,
    reuse: {
      wall: kept.wall,
      tryLoad: (tryLoad) => (version) => {
        stopping.abort()
        return tryLoad(version)
      },
    },
  })
  await assert.rejects(start, { code: 'unavailable', message: 'Annex is stopping.' })
  const again = await startServer(loaded, { startProcess, reuse: kept })
  assert.deepEqual(
    again.plugins.map(({ state }) => state),
    ['loaded', 'loaded'],
  )
  await again.close()
})
