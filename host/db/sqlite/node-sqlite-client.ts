import { createRequire } from 'node:module'
import type { Knex } from 'knex'
import { openSqliteThread, type SqliteThread } from './sqlite-thread.ts'

/** What Knex hands its client of a query, and takes back. */
type Query = {
  sql: string
  bindings?: readonly unknown[]
  response?: unknown
  context?: { lastID: unknown; changes: unknown }
}

/** As Knex begins a transaction. */
const begin = 'BEGIN;'

type BaseClient = Knex.Client & { connectionSettings: { filename: string } }

const BaseClient = createRequire(import.meta.url)('knex/lib/dialects/better-sqlite3') as new (
  config: Knex.Config,
) => BaseClient

/** Knex's client for SQLite, over the SQLite that Node itself has: there is nothing to compile. */
export class NodeSqliteClient extends BaseClient {
  /** Knex asks for it at once; the driver is in the connection's thread. */
  _driver(): object {
    return {}
  }

  override async acquireRawConnection(): Promise<SqliteThread> {
    return openSqliteThread(this.connectionSettings.filename)
  }

  override async destroyRawConnection(connection: SqliteThread): Promise<void> {
    await connection.close()
  }

  override async validateConnection(connection: SqliteThread): Promise<boolean> {
    return connection.isOpen()
  }

  async _query(connection: SqliteThread, query: Query): Promise<Query> {
    const given = connection.run(query.sql, query.bindings ?? [])
    // It goes with the first statement of its transaction: should it fail, the connection ends.
    if (query.sql === begin) {
      given.catch(() => {})
      return query
    }
    const { rows, lastID, changes } = await given
    if (rows !== undefined) query.response = rows
    else query.context = { lastID, changes }
    return query
  }
}
