import knex, { type Knex } from 'knex'
import { stoppingError } from '../errors/stopping.ts'
import type { Db } from './db.ts'

/** Connections that can be closed while queries come in. */
export type Closable = {
  db: Db
  /** From now on queries and transactions are refused. Those that have begun go on. */
  refuse: () => void
  /** Settles when all that has begun is over, and the connections are closed. */
  close: () => Promise<void>
}

/** Puts a gate before Knex's own pool, which makes a query wait for a minute while it is closed. */
export function toClosable(opened: Knex): Closable {
  const { connection: _connection, pool: _pool, ...config } = opened.client.config
  let isRefusing = false
  const connectionPool = {
    acquire: () => ({ promise: acquire() }),
    release(connection: unknown) {
      opened.client.releaseConnection(connection)
      return true
    },
    destroy: () => opened.destroy(),
    // Knex recognizes a pool by these.
    numFree: () => 0,
    numUsed: () => 0,
    numPendingAcquires: () => 0,
  }
  return {
    db: knex({ ...config, connectionPool }),
    refuse() {
      isRefusing = true
    },
    close: () => opened.destroy(),
  }

  async function acquire(): Promise<unknown> {
    try {
      if (!isRefusing) return await opened.client.acquireConnection()
    } catch (error) {
      // Knex aborts the queries that wait for a connection when it closes the last one.
      if (!isRefusing) throw error
    }
    throw stoppingError()
  }
}
