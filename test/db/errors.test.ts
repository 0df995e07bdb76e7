import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { explainStorageError, isOwnFault } from '../../host/db/errors.ts'
import { openPostgres } from '../../host/db/open-database.ts'
import { closedPort, serveRaw } from '../egress/local-server.ts'

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
  ['update "a" - cannot execute UPDATE in a read-only transaction', '25006', 'storage_busy'],
  ['update "a" - canceling statement due to statement timeout', '57014', 'storage_busy'],
  ['COMMIT; - canceling statement due to statement timeout', '57014', 'storage_busy'],
  ['select 1 - terminating connection due to idle-session timeout', '57P05', 'storage_busy'],
  ['update "a" - could not serialize access due to concurrent update', '40001', 'storage_busy'],
  ['update "a" - out of memory', '53200', 'storage_busy'],
  ['update "a" - could not extend file: No space left on device', '53100', 'storage_full'],
  ['sorry, too many clients already', '53300', 'storage_busy'],
  ['role "annex" is not permitted to log in', '28000', 'storage_busy'],
  ['password authentication failed for user "annex"', '28P01', 'storage_busy'],
  ['database "annex" does not exist', '3D000', 'storage_busy'],
  ['no more connections allowed (max_client_conn)', '08P01', 'storage_busy'],
  // Of a connection to another server, and of a wrong statement.
  ['getaddrinfo ENOTFOUND api.example', 'ENOTFOUND', undefined],
  ['read ECONNRESET', 'ECONNRESET', undefined],
  ['select 1 - column "a" does not exist', '42703', undefined],
]

describe('a message of PostgreSQL or its connection', () => {
  for (const [message, code, told] of losses) {
    it(`is ${told ?? 'none'}: ${message.replaceAll('\n', ' ')}`, () => {
      const error = Object.assign(new Error(message), code !== undefined && { code })
      assert.equal(explainStorageError(error)?.code, told)
    })
  }
})

describe('an unreachable PostgreSQL', () => {
  const reach = async (url: string) => {
    const db = await openPostgres(url)
    try {
      return await db.raw('select 1').then(
        () => assert.fail('It was reached.'),
        (error: unknown) => explainStorageError(error),
      )
    } finally {
      await db.destroy()
    }
  }

  it('counts as busy for a wrong name, port or socket, so publishers repeat', async () => {
    const closed = `postgres://annex@127.0.0.1:${await closedPort()}/annex`
    const socket = `postgres://annex@${encodeURIComponent('/no/such/folder')}/annex`
    for (const url of ['postgres://annex@no-such-name.invalid/annex', closed, socket]) {
      const error = await reach(url)
      assert.equal(error?.code, 'storage_busy', url)
      assert.match(
        error.message,
        /^The server of the database cannot be reached \(\w+\)\. Nothing was stored/,
      )
    }
  })

  it('counts as busy when another program closes the connection', async (t) => {
    const { port } = await serveRaw(t, (socket) => socket.end())
    assert.equal((await reach(`postgres://annex@127.0.0.1:${port}/annex`))?.code, 'storage_busy')
  })
})

/** As above, and of SQLite. */
const faults: [error: Error, code: string | undefined, isOwn: boolean][] = [
  [new Error('insert into "a" - null value violates not-null constraint'), '23502', true],
  [new Error('insert into "a" - invalid byte sequence for encoding "UTF8": 0x00'), '22021', true],
  [new Error('insert into "a" - NOT NULL constraint failed: a.b'), 'SQLITE_CONSTRAINT', true],
  [new Error('select "c" - no such column: c'), 'SQLITE_ERROR', true],
  [new TypeError("Cannot read properties of undefined (reading 'a')"), undefined, true],
  [new Error('BEGIN; - Connection terminated unexpectedly'), undefined, false],
  // While it connects.
  [new Error('Connection terminated unexpectedly'), undefined, false],
  [new Error('connect ETIMEDOUT 192.0.2.1:5432'), 'ETIMEDOUT', false],
  [new Error('getaddrinfo EAI_AGAIN db'), 'EAI_AGAIN', false],
  [new Error('password authentication failed for user "annex"'), '28P01', false],
  [new Error('update "a" - cannot execute UPDATE in a read-only transaction'), '25006', false],
  [new Error('update "a" - permission denied for table a'), '42501', false],
  [new Error('update "a" - canceling statement due to statement timeout'), '57014', false],
  [new Error('update "a" - attempt to write a readonly database'), 'SQLITE_READONLY', false],
  [new Error('update "a" - database or disk is full'), 'SQLITE_FULL', false],
]

describe('the cause of a failed write', () => {
  for (const [error, code, isOwn] of faults) {
    it(`is ${isOwn ? 'its own fault' : 'the database'}: ${error.message}`, () => {
      assert.equal(isOwnFault(Object.assign(error, code !== undefined && { code })), isOwn)
    })
  }
})
