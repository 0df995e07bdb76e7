import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { explainStorageError } from '../../host/db/explain-storage-error.ts'

/** As Knex and `pg` say it, most of connections that were cut. */
const losses: [message: string, code: string | undefined, told: string | undefined][] = [
  ['COMMIT; - Connection terminated unexpectedly', undefined, 'storage_unsure'],
  ['COMMIT; - read ECONNRESET', 'ECONNRESET', 'storage_unsure'],
  ['update "jobs" set "a" = $1 - terminating connection', '57P01', 'storage_unsure'],
  ['insert into a\n  values (1 - 2) - write EPIPE', 'EPIPE', 'storage_unsure'],
  ['COMMIT; - Client has encountered a connection error and is not queryable', undefined, 'storage_busy'],
  ['ROLLBACK - Connection terminated unexpectedly', undefined, 'storage_busy'],
  ['BEGIN; - read ECONNRESET', 'ECONNRESET', 'storage_busy'],
  ['select * from "jobs" - Connection terminated unexpectedly', undefined, 'storage_busy'],
  ['update "jobs" set "a" = $1 - deadlock detected', '40P01', 'storage_busy'],
  // Of somebody else's connection, and of a statement that is wrong.
  ['read ECONNRESET', 'ECONNRESET', undefined],
  ['select 1 - column "a" does not exist', '42703', undefined],
]

describe('what PostgreSQL, or the loss of its connection, says', () => {
  for (const [message, code, told] of losses) {
    it(`is ${told ?? 'none'}: ${message.replaceAll('\n', ' ')}`, () => {
      const error = Object.assign(new Error(message), code !== undefined && { code })
      assert.equal(explainStorageError(error)?.code, told)
    })
  }
})
