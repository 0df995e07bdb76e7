import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import type { Worker } from 'node:worker_threads'
import type { Db } from '../../../host/db/db.ts'
import { openDatabase } from '../../../host/db/open-database.ts'

const long =
  'with recursive n (i) as (select 1 union all select i + 1 from n limit 1000000) select count(*) from n'

async function open(t: TestContext): Promise<Db> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { longReader, close } = await openDatabase('', folder)
  t.after(close)
  return longReader
}

it('a thread that reads stores nothing', async (t) => {
  const longReader = await open(t)
  await assert.rejects(longReader('jobs').delete(), { code: 'SQLITE_READONLY' })
})

it('a thread that has ended is replaced; what it was asked then fails', async (t) => {
  const longReader = await open(t)
  const thread: Worker = await longReader.client.acquireConnection()
  await longReader.client.releaseConnection(thread)
  const asked = once(longReader, 'query')
  const refused = assert.rejects(longReader.raw(long), /thread that reads the database has ended/)
  await asked
  await thread.terminate()
  await refused
  assert.deepEqual(await longReader('jobs').select('id'), [])
})

it('a file that cannot be opened is said to whoever asks', async (t) => {
  const longReader = await open(t)
  longReader.client.connectionSettings.filename = '/nowhere/annex.sqlite'
  await assert.rejects(longReader('jobs').select('id'), { code: 'SQLITE_CANTOPEN' })
})
