import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startAnnex } from '../support/annex.ts'

test('a refused start leaves no temporary folder of the tests behind', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'annex-refused-'))
  const before = process.env.TMPDIR
  context.after(async () => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    await rm(folder, { recursive: true, force: true })
  })
  process.env.TMPDIR = folder
  await assert.rejects(startAnnex({ flags: { DATABASE_URL: 'nonsense://x' } }))
  assert.deepEqual(await readdir(folder), [])
})
