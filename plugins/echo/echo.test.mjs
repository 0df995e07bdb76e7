// Run it with `node --test plugins/echo/echo.test.mjs`. A copy beside another plugin needs other names and answers alone.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../bin/annex.js', import.meta.url))
const dataDir = mkdtempSync(join(tmpdir(), 'annex-echo-'))
const env = { ...process.env, DATA_DIR: dataDir, PLUGINS_DIR: fileURLToPath(new URL('..', import.meta.url)) }
/** A command of `annex`, for the Annex of this test. */
const annex = (...args) => JSON.parse(execFileSync(process.execPath, [program, ...args, '--json'], { env }))

/** Annex with data of its own, on a free port. */
let server
let url

before(async () => {
  server = spawn(process.execPath, [program, 'serve', '--port', '0'], { env, stdio: 'ignore' })
  const announcement = join(dataDir, 'server.json')
  while (!existsSync(announcement)) {
    assert.equal(server.exitCode, null, 'Annex ended. `annex serve` says why.')
    await setTimeout(100)
  }
  url = JSON.parse(readFileSync(announcement, 'utf8')).url
  // Annex answers before it has loaded the plugin folders.
  while (!(await fetch(`${url}/readyz`)).ok) await setTimeout(100)
})

after(async () => {
  if (server.exitCode === null && server.kill()) await once(server, 'exit')
  rmSync(dataDir, { recursive: true })
})

it('takes a POST', async () => {
  const answer = await fetch(`${url}/x/echo`, { method: 'POST', body: '{}' })
  assert.equal(answer.status, 200)
  assert.deepEqual(await answer.json(), { received: true })
})

it('refuses a GET at the endpoint of an installation', async () => {
  const { installation } = annex('install', 'echo', '--yes')
  const answer = await fetch(installation.urls.publicEndpoint)
  assert.equal(answer.status, 405)
  assert.equal(await answer.text(), 'Method not allowed')
})
