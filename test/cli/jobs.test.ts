import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder } from './support/run-annex.ts'
import { startInProcess } from './support/start-in-process.ts'

const manifest = `name: fails
title: Fails
description: Its setup never works.
organization: home
visibility: private
scopes: []
script: ./index.ts
`
const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async () => new Response('hi'),
  events: { installation_setup: async () => { throw new Error('no \\u001b[2Jway') } },
})`

test('annex jobs lists a failed job, shows it with its log, and runs it again', async (context) => {
  const plugins = await makeFolder(context)
  mkdirSync(join(plugins, 'fails'))
  writeFileSync(join(plugins, 'fails', 'service-manifest.yaml'), manifest)
  writeFileSync(join(plugins, 'fails', 'index.ts'), script)
  const served = await startInProcess({ PLUGINS_DIR: plugins, DELIVERY_RETRY_SECONDS: '0.1' })
  context.after(served.close)
  const installed = await served.annex('install', 'fails', '--yes')
  assert.equal(installed.code, 0, installed.stderr)
  let id = ''
  while (id === '') {
    const { stdout } = await served.annex('jobs', '--json')
    id = JSON.parse(stdout).items[0]?.id ?? ''
  }
  assert.match((await served.annex('jobs')).stdout, /^job_\S+ +failed +installation_setup +2 /m)
  const { stdout } = await served.annex('jobs', 'show', id)
  assert.match(stdout, /^attempts {5}2$/m)
  assert.match(stdout, /"type": "installation_setup"/)
  assert.match(stdout, /error Error: no \\x1b\[2Jway/)
  assert.match((await served.annex('jobs', 'run', id)).stdout, /^job_\S+ due\n$/)
  const failed = async (): Promise<number> =>
    JSON.parse((await served.annex('jobs', '--json')).stdout).items.length
  while ((await failed()) === 0);
  assert.equal((await served.annex('jobs', 'discard', id)).stdout, `${id} discarded\n`)
  assert.equal(await failed(), 0)
  const unknown = await served.annex('jobs', 'run', 'job_none')
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /There is no job job_none/)
})
