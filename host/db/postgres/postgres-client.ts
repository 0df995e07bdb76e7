import { createRequire } from 'node:module'
import type { Knex } from 'knex'
import type { SettlesAtCommit } from '../commits/committed.ts'

const require = createRequire(import.meta.url)

type Config = Partial<SettlesAtCommit>

interface BaseTransaction {
  begin(connection: unknown): Promise<unknown>
  query(connection: unknown, sql: string): Promise<unknown>
}

interface BaseClient {
  transaction(container: unknown, config?: Config, outer?: unknown): unknown
}

const BaseTransaction = require('knex/lib/dialects/postgres/execution/pg-transaction') as new (
  ...given: unknown[]
) => BaseTransaction

const BaseClient = require('knex/lib/dialects/postgres') as new (config: Knex.Config) => BaseClient

/**
 * Commits without a wait for the server's disk. Both go in one message: what costs is the way there and back. For this transaction
 * alone: a pooler may give the connection to somebody else after it.
 */
class EarlyTransaction extends BaseTransaction {
  override begin(connection: unknown): Promise<unknown> {
    return this.query(connection, 'BEGIN; SET LOCAL synchronous_commit TO OFF;')
  }
}

/** Knex's client for PostgreSQL, with transactions that settle at their commit. */
export class PostgresClient extends BaseClient {
  override transaction(container: unknown, config?: Config, outer?: unknown): unknown {
    if (config?.settles === undefined) return super.transaction(container, config, outer)
    return new EarlyTransaction(this, container, config, outer)
  }
}
