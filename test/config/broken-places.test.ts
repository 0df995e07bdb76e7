import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { ownDataFolder } from '../../host/db/data-folder.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { closedPort } from '../egress/local-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'annex-places-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'file')
writeFileSync(file, 'this is no database, but text that goes on for a while\n'.repeat(100))

describe('a place of data that cannot be used is named as the setting that it is', () => {
  it('a data folder that is a file, or lies below one', async () => {
    for (const dataDir of [file, join(file, 'below')]) {
      await assert.rejects(ownDataFolder(dataDir), {
        code: 'settings_invalid',
        message: /^DATA_DIR: .*a file/,
      })
    }
  })

  it('a database that is no SQLite, a folder, or below a file', async () => {
    mkdirSync(join(folder, 'sub'))
    for (const [path, message] of [
      [file, /^DATABASE_URL: .*not a SQLite database/],
      [join(folder, 'sub'), /^DATABASE_URL: .*cannot be made/],
      [join(file, 'below.sqlite'), /^DATABASE_URL: .*cannot be made/],
    ] as const) {
      await assert.rejects(openDatabase(`sqlite:${path}`, folder), { code: 'settings_invalid', message })
    }
  })

  it('a PostgreSQL that is not there, without its password', async () => {
    const url = `postgres://user:secret@127.0.0.1:${await closedPort()}/annex`
    await assert.rejects(openDatabase(url, folder), (error: Error) => {
      assert.match(error.message, /^DATABASE_URL: .*cannot be reached/)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  })

  it('and what Annex makes is for nobody else to read', async () => {
    const dataDir = join(folder, 'data')
    const giveBack = await ownDataFolder(dataDir)
    const { close } = await openDatabase('', dataDir)
    await close()
    await giveBack()
    assert.equal(statSync(dataDir).mode & 0o777, 0o700)
    assert.equal(statSync(join(dataDir, 'annex.sqlite')).mode & 0o777, 0o600)
  })
})
