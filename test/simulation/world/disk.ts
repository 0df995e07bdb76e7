import { DatabaseSync, type StatementSync } from 'node:sqlite'
import knex from 'knex'
import type { Db } from '../../../host/db/db.ts'
import { nameErrorsOf } from '../../../host/db/errors.ts'
import { migrations } from '../../../host/db/migrate.ts'
import { knexConfig } from '../../../host/db/sql.ts'
import type { Owner, World } from './world.ts'

/** The faults of a disk, drawn before each statement of a host. */
export type DiskFaults = {
  /** How long the statement takes, in ms. */
  delayMs: (sql: string) => number
  /** `crash` ends the host before the statement and `crash-after` after it. The others are errors of SQLite. */
  fault: (sql: string) => 'crash' | 'crash-after' | 'SQLITE_FULL' | 'SQLITE_IOERR' | 'SQLITE_BUSY' | undefined
  /** Whether the error has ended the transaction, as SQLite does for some errors. */
  endsTransaction: () => boolean
}

/** A database that outlives its hosts: a real SQLite in memory, driven without threads, so that a seed decides all. */
export type Disk = {
  /** The database of a host. A host that is gone stores nothing more and gets no answer. */
  open: (world: World, owner: Owner & { crash: () => void }, faults: DiskFaults) => Db
  rows: <Row>(sql: string, ...values: (string | number)[]) => Row[]
  /** Rolls back the open transaction of a host that is gone. */
  release: (owner: Owner) => void
  isBusy: () => boolean
  /** Calls `note` for each lease that is taken off a job, also in a transaction that is rolled back later. */
  watchLeases: (note: (ended: EndedLease) => void) => void
  empty: () => void
}

/** `until`: by the clock of its host. */
export type EndedLease = { jobId: string; leaseId: string; hostId: string; until: number }

/** A connection of the `sqlite3` package, as far as Knex uses it. */
type Connection = Record<
  'run' | 'all',
  (sql: string, values: readonly unknown[] | undefined, done: Done) => void
>

type Done = (this: { changes?: number }, error: Error | null, rows?: unknown[]) => void
type Value = string | number | null

/** @param prepareFor stores the rows that every plan needs */
export async function createDisk(prepareFor: (db: Db) => Promise<unknown>): Promise<Disk> {
  const file = new DatabaseSync(':memory:')
  const statements = new Map<string, StatementSync>()
  /** The host that has the connection, and the hosts that wait for it: SQLite has one writer. */
  let holder: Owner | undefined
  let waiting: { owner: Owner; begin: () => void }[] = []
  let noteEnd: (ended: EndedLease) => void = () => {}
  const always: Owner = { isGone: false, stalledUntil: 0 }
  await migrate()
  const tables = ['attempts', 'deliveries', 'bodies', 'jobs', 'receivers', 'logs']
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
    watchLeases(note) {
      noteEnd = note
    },
    empty() {
      for (const table of tables) prepare(`delete from ${table}`).run()
    },
  }

  async function migrate(): Promise<void> {
    const db = toKnex({ run: execute, all: execute }, always)
    await db.migrate.latest({ migrationSource: migrations })
    await prepareFor(db)
    file.exec('pragma foreign_keys = on')
    file.function('note_end', (jobId, leaseId, hostId, until) => {
      noteEnd({ jobId, leaseId, hostId, until } as EndedLease)
      return null
    })
    file.exec(`create temp trigger lease_ends after update of lease_id on jobs
      when old.lease_id is not null and old.lease_id is not new.lease_id
      begin select note_end(old.id, old.lease_id, old.host_id, old.lease_until); end`)
    statements.clear()
  }

  function openFor(world: World, owner: Owner & { crash: () => void }, faults: DiskFaults): Db {
    const statement: Connection['run'] = (sql, values, done) => {
      // Knex gives a ROLLBACK a timeout by the real clock.
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
        // A commit that fails is rolled back.
        if (file.isTransaction && (isCommit(sql) || faults.endsTransaction())) file.exec('rollback')
        done.call({}, Object.assign(new Error(`${fault}: simulated`), { code: fault }))
      }
      const ms = faults.delayMs(sql)
      if (ms > 0) world.after(ms, go, owner)
      else queueMicrotask(go)
    }
    return toKnex({ run: statement, all: statement }, owner)
  }

  /** Knex's client for SQLite over connections of this disk. Knex's own pool would wait by the real clock. */
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
      // Knex recognizes a pool by these.
      numFree: () => 0,
      numUsed: () => 0,
      numPendingAcquires: () => 0,
    }
    const db = knex({ ...knexConfig, client: 'sqlite3', connectionPool, useNullAsDefault: true })
    nameErrorsOf(db)
    return db
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
    // Knex reads the number of changed rows from `this`, as the package calls back.
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
