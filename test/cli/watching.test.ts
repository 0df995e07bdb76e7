import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import type { StoredLine } from '../../host/logs/create-log-writer.ts'
import { createLineReport } from '../../host/start/load-folders.ts'
import { type Json, until } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { makeFolder } from './support/run-annex.ts'
import { startServe } from './support/start-serve.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment }) => {
    console.log('asked\\nfor', environment.secrets.KEY?.length)
    if (request.url.endsWith('/throw')) throw new TypeError('not this one')
    return new Response(environment.secrets.KEY ?? 'none')
  },
})`

test('serve --watch shows the logs of scripts, and errors with code frames', async (context) => {
  const pluginsDir = await makeFolder(context)
  writePlugin(pluginsDir, 'chatty', { script })
  const served = await startServe({ PLUGINS_DIR: pluginsDir, WATCH: 'true', LOG_LEVEL: 'info' })
  context.after(served.close)
  await fetch(`${served.url}/x/chatty/throw`)
  const { stderr } = await served.stop()
  const lines: Json[] = stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  const said = lines.find(({ msg }) => msg?.startsWith('asked'))
  assert.equal(said?.integration, 'chatty')
  assert.match(said.requestId, /^req_/)
  const thrown = lines.find(({ msg }) => msg?.startsWith('TypeError: not this one'))
  assert.match(thrown?.msg ?? stderr, /plugins\/chatty\/index\.ts:5:\d+/)
  assert.match(thrown.frame, /^ {2}5 \| .*throw new TypeError\('not this one'\)$/m)
  assert.match(thrown.frame, /\| +\^/)
})

test('an error in a saved plugin folder is logged with frame and hint', async (context) => {
  const pluginsDir = await makeFolder(context)
  const folder = writePlugin(pluginsDir, 'chatty', { script })
  const served = await startServe({ PLUGINS_DIR: pluginsDir, WATCH: 'true', LOG_LEVEL: 'info' })
  context.after(served.close)
  writePlugin(pluginsDir, 'second', { script })
  await writeFile(join(folder, 'service-manifest.yaml'), 'name: chatty\nvisibilty: public\n')
  await until(
    async () => (await fetch(`${served.url}/x/second`)).status,
    (status) => status === 200,
  )
  const { stderr } = await served.stop()
  const failed: Json = stderr
    .split('\n')
    .filter((line) => line.includes('plugin not loaded'))
    .map((line) => JSON.parse(line))[0]
  assert.ok(failed, stderr)
  const problem = failed.problems.find((text: string) => text.includes('unknown field'))
  assert.match(
    problem,
    /:2:1 error unknown field "visibilty"\n[\s\S]*2 \| visibilty: public\n[\s\S]*hint: did you mean "visibility"\?/,
  )
})

test('a reload reads .env again, and a script gets the new value of its secret', async (context) => {
  const pluginsDir = await makeFolder(context)
  const served = await startServe({ PLUGINS_DIR: pluginsDir })
  context.after(served.close)
  const envFile = join(served.dataDir, '.env')
  const said = async () => (await fetch(`${served.url}/x/keeper`)).text()
  writePlugin(pluginsDir, 'keeper', { script, more: `secrets: { KEY: "\${{ env.KEEPER_KEY }}" }` })
  const without = await served.annex('reload')
  assert.equal(without.code, 3)
  assert.match(without.stdout, /KEEPER_KEY of the secret "KEY" is not set[\s\S]*into \.env and reload/)
  await writeFile(envFile, 'KEEPER_KEY=first-value\n')
  assert.equal((await served.annex('reload')).code, 0)
  assert.equal(await said(), 'first-value')
  await writeFile(envFile, 'KEEPER_KEY=second-value\n')
  await served.annex('reload')
  assert.equal(await said(), 'second-value')
})

const line: StoredLine = {
  at: 0,
  integration: 'chatty',
  installationId: null,
  requestId: 'req_1',
  level: 'error',
  text: 'Error: a\x1b[2J\n    at plugins/chatty/index.ts:1:1',
  frame: '  1 | x\n    | ^',
}

test('the log line of a script is harmless text with its code frame on a terminal', () => {
  const written: string[] = []
  const output = { isTTY: true, write: (text: string) => void written.push(text) }
  const report = (level: string) => createLineReport({ logger: pino({ level, enabled: true }), output })
  report('info')(line)
  assert.deepEqual(written, [
    'error chatty Error: a\\x1b[2J\n        at plugins/chatty/index.ts:1:1\n      1 | x\n        | ^\n',
  ])
  report('silent')(line)
  report('warn')({ ...line, level: 'info' })
  assert.equal(written.length, 1, 'LOG_LEVEL holds')
})
