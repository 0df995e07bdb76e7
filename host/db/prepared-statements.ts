import { LRUCache } from 'lru-cache'
import type sqlite3 from 'sqlite3'

type Bindings = readonly unknown[] | undefined
type Done = (this: unknown, error: Error | null, rows?: unknown[]) => void

/** So many statements of a connection stay prepared. A delivery takes some twenty. */
const mostKept = 64
/** SQLite keeps the values of a statement until it runs again. A statement with larger ones is dropped after its run. */
const largeLength = 262_144
/** Others are rare, and some stay open until they are dropped: no transaction could commit after an EXPLAIN. */
const keptKinds = /^\s*(select|with|insert|update|delete|begin|commit)\b/i

/**
 * Keeps the statements of a connection prepared. The package prepares each anew: that parses its text, and is one more trip
 * to a thread and back.
 *
 * One statement runs at a time, in the order of the calls: a ROLLBACK overtakes no statement of its transaction.
 */
export function keepPrepared(connection: sqlite3.Database): void {
  // A statement that is dropped while it runs ends first.
  const kept = new LRUCache<string, sqlite3.Statement>({
    max: mostKept,
    dispose: (statement) => statement.finalize(),
  })
  const waiting: (() => void)[] = []
  let isRunning = false
  const run = connection.run.bind(connection)
  const close = connection.close.bind(connection)
  Object.assign(connection, {
    /** Knex gives no bindings for BEGIN and COMMIT. */
    all(sql: string, bindings: Bindings = [], done: Done) {
      inTurn(done, (end) => {
        prepared(sql, end).all(bindings, end)
        if (!keptKinds.test(sql) || bindings.some(isLarge)) kept.delete(sql)
      })
    },
    /** Reads no row: a statement that has some would stay open, so it is not kept. */
    run: (sql: string, bindings: Bindings = [], done: Done) => inTurn(done, (end) => run(sql, bindings, end)),
    close(done: (error: Error | null) => void) {
      kept.clear()
      close(done)
    },
  })

  function inTurn(done: Done, start: (end: Done) => void): void {
    waiting.push(() =>
      start(function (this: unknown, ...results) {
        runNext()
        done.apply(this, results)
      }),
    )
    if (!isRunning) runNext()
  }

  function runNext(): void {
    const next = waiting.shift()
    isRunning = next !== undefined
    next?.()
  }

  /** @param onRefused called when SQLite cannot prepare the statement. It then runs no more. */
  function prepared(sql: string, onRefused: Done): sqlite3.Statement {
    const found = kept.get(sql)
    if (found !== undefined) return found
    const statement = connection.prepare(sql, (error: Error | null) => {
      if (error === null) return
      kept.delete(sql)
      onRefused.call(connection, error)
    })
    kept.set(sql, statement)
    return statement
  }
}

function isLarge(value: unknown): boolean {
  return (typeof value === 'string' || Buffer.isBuffer(value)) && value.length > largeLength
}
