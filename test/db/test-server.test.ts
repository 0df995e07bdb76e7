import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findPostgres } from '../support/postgres-server.ts'

const bin = findPostgres()

describe('a PostgreSQL for the tests', { skip: bin === undefined }, () => {
  it('ends with its folder before its process', () => {
    const support = fileURLToPath(new URL('../support/postgres-server.ts', import.meta.url))
    const program = `
      import { startPostgres } from ${JSON.stringify(support)}
      const { data, close } = await startPostgres(${JSON.stringify(bin)})
      console.log(data)
      await close()`
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
    })
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    assert.equal(existsSync(stdout.trim()), false)
  })
})
