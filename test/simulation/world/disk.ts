import { DatabaseSync, type StatementSync } from 'node:sqlite'
import knex from 'knex'
import type { Db } from '../../../host/db/db.ts'
import { knexConfig } from '../../../host/db/knex-config.ts'
import { migrations } from '../../../host/db/migrations/index.ts'
import type { Owner, World } from './world.ts'

/** What a disk does to a host. Asked before each statement. */
export type DiskFaults = {
  /** How long the statement takes, in ms. */
  delayMs: (sql: string) => number
  /** `crash` ends the host before the statement, `crash-after` when it has been done; else an error of SQLite. */
  fault: (sql: string) => 'crash' | 'crash-after' | 'SQLITE_FULL' | 'SQLITE_IOERR' | 'SQLITE_BUSY' | undefined
  /** Whether SQLite has ended the transaction because of the error: it does with some. */
  endsTransaction: () => boolean
}

/** A database that outlives its hosts: a real SQLite in memory, driven without threads, so that a seed decides all. */
export type Disk = {
  /** What a host opens. Nothing of a host that is gone gets through, and nothing is answered to it. */
  open: (world: World, owner: Owner & { crash: () => void }, faults: DiskFaults) => Db
  rows: <Row>(sql: string, ...values: (string | number)[]) => Row[]
  /** Lets go of what a host that is gone had open: a transaction that was not committed never was. */
  release: (owner: Owner) => void
  isBusy: () => boolean
  empty: () => void
}

/** A connection of the `sqlite3` package, as far as Knex uses it. */
type Connection = Record<
  'run' | 'all',
  (sql: string, values: readonly unknown[] | undefined, done: Done) => void
>

type Done = (this: { changes?: number }, error: Error | null, rows?: unknown[]) => void
type Value = string | number | null

/** @param prepare stores what every plan needs */
export async function createDisk(prepareFor: (db: Db) => Promise<unknown>): Promise<Disk> {
  const file = new DatabaseSync(':memory:')
  const statements = new Map<string, StatementSync>()
  /** Who has the connection, and who waits for it: SQLite has one writer. */
  let holder: Owner | undefined
  let waiting: { owner: Owner; begin: () => void }[] = []
  const always: Owner = { isGone: false, stalledUntil: 0 }
  await migrate()
  const tables = ['attempts', 'deliveries', 'bodies', 'jobs', 'endpoints', 'logs']
  return {
    open: openFor,
    rows: (sql, ...values) => prepare(sql).all(...values) as never,
    release(owner) {
      waiting = waiting.filter((one) => one.owner !== owner)
      if (holder !== owner) return
      if (file.isTransaction) file.exec('rollback')
      handOn()
    },
    isBusy: () => holder !== undefined,
    empty() {
      for (const table of tables) prepare(`delete from ${table}`).run()
    },
  }

  async function migrate(): Promise<void> {
    const db = toKnex({ run: execute, all: execute }, always)
    await db.migrate.latest({ migrationSource: migrations })
    await prepareFor(db)
    file.exec('pragma foreign_keys = on')
    statements.clear()
  }

  function openFor(world: World, owner: Owner & { crash: () => void }, faults: DiskFaults): Db {
    const statement: Connection['run'] = (sql, values, done) => {
      // Knex waits for it by the real clock, and may find that SQLite has done it.
      if (sql === 'ROLLBACK') return execute(sql, values, done)
      const go = () => {
        if (owner.isGone) return
        const fault = faults.fault(sql)
        if (fault === 'crash') return owner.crash()
        if (fault === 'crash-after') {
          execute(sql, values, () => {})
          return owner.crash()
        }
        if (fault === undefined) return execute(sql, values, done)
        // Of a commit that fails nothing is left.
        if (file.isTransaction && (isCommit(sql) || faults.endsTransaction())) file.exec('rollback')
        done.call({}, Object.assign(new Error(`${fault}: simulated`), { code: fault }))
      }
      const ms = faults.delayMs(sql)
      if (ms > 0) world.after(ms, go, owner)
      else queueMicrotask(go)
    }
    return toKnex({ run: statement, all: statement }, owner)
  }

  /** Knex's own client for SQLite, with connections that are given out here: its own pool waits by the real clock. */
  function toKnex(connection: Connection, owner: Owner): Db {
    const connectionPool = {
      acquire: () => ({
        promise: new Promise<Connection>((resolve) => {
          if (owner.isGone) return
          waiting.push({ owner, begin: () => resolve(connection) })
          if (holder === undefined) handOn()
        }),
      }),
      release() {
        if (holder === owner) handOn()
        return true
      },
      destroy: async () => {},
      // Knex takes for a pool what has these.
      numFree: () => 0,
      numUsed: () => 0,
      numPendingAcquires: () => 0,
    }
    return knex({ ...knexConfig, client: 'sqlite3', connectionPool, useNullAsDefault: true })
  }

  function handOn(): void {
    const next = waiting.shift()
    holder = next?.owner
    next?.begin()
  }

  function execute(sql: string, values: readonly unknown[] = [], done: Done): void {
    let rows: unknown[]
    try {
      rows = prepare(sql).all(...values.map(toValue))
    } catch (error) {
      return done.call({}, Object.assign(error as Error, { code: 'SQLITE_ERROR' }))
    }
    // As the package does: of a statement that changed nothing it says so.
    const changes = Number(Object.values(prepare('select changes()').get() ?? {})[0] ?? 0)
    done.call({ changes }, null, rows)
  }

  function prepare(sql: string): StatementSync {
    const found = statements.get(sql)
    if (found !== undefined) return found
    const made = file.prepare(sql)
    statements.set(sql, made)
    return made
  }
}

const isCommit = (sql: string): boolean => sql.startsWith('COMMIT')

const toValue = (value: unknown): Value =>
  typeof value === 'boolean' || value instanceof Date ? Number(value) : ((value ?? null) as Value)
