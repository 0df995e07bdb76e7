// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { insertEvents } from '../../host/db/queries/events.ts'
import { createResolver } from '../../host/egress/resolver.ts'
import { until } from '../support/annex.ts'
import { startNameserver } from '../support/nameserver.ts'
import { openSeeded } from '../support/seeded-database.ts'

const program = fileURLToPath(new URL('../../bin/annex.js', import.meta.url))

/** Blocks 15 of libuv's threads as soon as the program has begun, and says whether another one does its work. */
const blockThreads = (pipe: string) => `
import { open, stat } from 'node:fs'
const look = setInterval(() => {
  if (process.env.UV_THREADPOOL_SIZE === undefined) return
  clearInterval(look)
  for (let n = 0; n < 15; n++) open(${JSON.stringify(pipe)}, () => {})
  stat('/', () => process.kill(process.pid, 'SIGUSR2'))
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 20_000)
}, 1)`

describe('the libuv threads, which SQLite uses', () => {
  it('are 16 in a host', { skip: process.platform === 'win32' }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'annex-threads-'))
    try {
      const pipe = join(folder, 'pipe')
      execFileSync('mkfifo', [pipe])
      const preload = `data:text/javascript,${encodeURIComponent(blockThreads(pipe))}`
      const { signal } = spawnSync(process.execPath, ['--import', preload, program, 'serve'], {
        env: { PATH: process.env.PATH, DATA_DIR: folder, PLUGINS_DIR: folder, PORT: '0' },
        cwd: folder,
        timeout: 60_000,
        killSignal: 'SIGKILL',
      })
      assert.equal(signal, 'SIGUSR2')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('can store an event during 16 unanswered name lookups', async (t) => {
    const { db, organizationId, close } = await openSeeded()
    t.after(close)
    const { address, asked } = await startNameserver(t, () => 'silent')
    const resolve = createResolver({ nameservers: [address] })
    let ended = 0
    const names = Array.from({ length: 16 }, async (_, n) => {
      await assert.rejects(resolve(`${n}.silent.test`, `asker ${n}`), { code: 'EAI_AGAIN' })
      ended += 1
    })
    await until(
      async () => new Set(asked).size,
      (size) => size === 16,
    )
    const event = { id: 'evt_1', organizationId, type: 'told', siteId: null, payload: '{}', receivedAt: 0 }
    assert.deepEqual(await db.transaction((transaction) => insertEvents(transaction, [event])), [true])
    assert.equal(ended, 0, 'names were still waited for')
    await Promise.all(names)
  })
})
