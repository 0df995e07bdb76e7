// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Annex, installSample, startAnnex, until } from '../support/annex.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { createEmptyDatabase, createTestDatabase } from '../support/test-database.ts'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const page = readFileSync(path('docs/backup.md'), 'utf8')
const commandOf = (program: string) =>
  new RegExp(`^${program} .*$`, 'm').exec(page)?.[0] ?? assert.fail(program)
const visitor = { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} }
const run = promisify(execFile)

function publish(annex: Annex, siteId: string, eventId: string) {
  const event = { type: 'site_view', siteId, eventId, visitor, url: 'http://a.example/' }
  return annex.api('POST', '/v1/events?organization=home', event)
}

/** Publishes while `backUp` runs, restores the copy, and finds in it all events that were acknowledged before. */
async function tryBackup(
  ends: AsyncDisposableStack,
  start: { dataDir: string; flags?: Record<string, string> },
  backUp: () => Promise<unknown>,
  restored: { dataDir: string; flags?: Record<string, string> },
): Promise<void> {
  const receiver = await startReceiver(200)
  ends.defer(receiver.close)
  const pluginsDir = path('plugins')
  const first = await startAnnex({ pluginsDir, ...start })
  const settings = { webhook_url: receiver.url, site_view: true }
  const { secret } = await installSample(first, 'webhook', 'site', settings)
  const { site } = first.server.samples
  const acknowledged: string[] = []
  let isDone = false
  const publishing = (async () => {
    for (let n = 0; !isDone; n += 1) {
      if ((await publish(first, site, `evt_${n}`)).status === 202) acknowledged.push(`evt_${n}`)
    }
  })()
  await until(
    async () => acknowledged.length,
    (count) => count > 50,
  )
  const before = [...acknowledged]
  await backUp()
  isDone = true
  await publishing
  await first.close()
  const second = await startAnnex({ pluginsDir, ...restored })
  ends.defer(second.close)
  for (const eventId of before)
    assert.equal((await publish(second, site, eventId)).json.duplicate, true, eventId)
  const received = receiver.received.length
  await publish(second, site, 'evt_after')
  await until(async () => receiver.received.some(({ body }) => body.includes('evt_after')), Boolean)
  assert.ok(receiver.received.length > received && secret.startsWith('whsec_'))
}

it('a SQLite backup of a running Annex has everything that was acknowledged before', async () => {
  await using ends = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'annex-backup-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'data'))
  symlinkSync(path('node_modules'), join(folder, 'node_modules'))
  // All commands of the page, in a folder that has no more than an operator's.
  const commands = /^## SQLite[\s\S]*?```bash\n([\s\S]*?)```/m.exec(page)?.[1] ?? assert.fail('no commands')
  const backUp = async () => {
    await run('bash', ['-ec', commands], { cwd: folder })
    for (const [name, mode] of Object.entries({ '': 0o700, 'annex.sqlite': 0o600, 'secret.key': 0o600 })) {
      assert.equal(statSync(join(folder, 'backup', name)).mode & 0o777, mode, name)
    }
  }
  const dataDir = join(folder, 'backup')
  await tryBackup(ends, { dataDir: join(folder, 'data') }, backUp, { dataDir })
})

it('a PostgreSQL backup of a running Annex has everything that was acknowledged before', async (context) => {
  await using ends = new AsyncDisposableStack()
  const bin = findPostgres()
  const source = await createTestDatabase()
  ends.defer(source.drop)
  if (bin === undefined || source.url === '') return context.skip('needs DATABASE_URL_TEST and pg_dump')
  const destination = await createEmptyDatabase()
  ends.defer(destination.drop)
  const folder = mkdtempSync(join(tmpdir(), 'annex-backup-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['data', 'backup', 'restored']) mkdirSync(join(folder, name))
  const shell = (program: string, url: string) =>
    run('bash', ['-c', commandOf(program)], {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: url, PATH: `${bin}:${process.env.PATH}` },
    })
  const backUp = async () => {
    await shell('pg_dump', source.url)
    copyFileSync(join(folder, 'data/secret.key'), join(folder, 'restored/secret.key'))
    await shell('pg_restore', destination.url)
  }
  const at = (name: string, url: string) => ({ dataDir: join(folder, name), flags: { DATABASE_URL: url } })
  await tryBackup(ends, at('data', source.url), backUp, at('restored', destination.url))
})
