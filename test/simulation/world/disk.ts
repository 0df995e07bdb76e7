import { createRequire } from 'node:module'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import knex, { type Knex } from 'knex'
import type { Db } from '../../../host/db/db.ts'
import type { EachBindings } from '../../../host/db/each-row.ts'
import { naming } from '../../../host/db/knex-config.ts'
import { migrations } from '../../../host/db/migrations/index.ts'
import { writeOutLimit } from '../../../host/db/sqlite/limits.ts'
import type { Owner, World } from './world.ts'

/** What a disk does to a host. Asked before each statement. */
export type DiskFaults = {
  /** How long the statement takes, in ms. */
  delayMs: (sql: string) => number
  /** How long after a commit it is on the disk, in ms. Without it, it is at once, as with PostgreSQL. */
  syncMs?: () => number
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

type BaseClient = Omit<Knex.Client, 'queryCompiler'> & {
  _query(connection: Connection, query: Query): Promise<Query>
  queryCompiler(builder: unknown, bindings: unknown): object
}

const BaseClient = createRequire(import.meta.url)('knex/lib/dialects/sqlite3') as new (
  config: Knex.Config,
) => BaseClient

/** Knex's own client for SQLite, which is given its connections here. */
class DriverlessClient extends BaseClient {
  _driver(): object {
    return {}
  }

  /** As the host's own client. */
  override queryCompiler(builder: unknown, bindings: unknown): object {
    return writeOutLimit(super.queryCompiler(builder, bindings))
  }

  /** As the host's own client: a statement that is run for each row of a batch is one step. */
  override _query(connection: Connection, query: Query): Promise<Query> {
    const each = query.queryContext?.each
    if (each === undefined) return super._query(connection, query)
    return new Promise((resolve, reject) => {
      connection.run(query.sql, { each }, (error, counts) => {
        query.response = counts
        if (error === null) resolve(query)
        else reject(error)
      })
    })
  }
}

type Query = { sql: string; queryContext?: Partial<EachBindings>; response?: unknown }

/** What that client calls a connection. */
type Connection = Record<'run' | 'all', (sql: string, values: Bindings, done: Done) => void>

type Bindings = readonly unknown[] | EachBindings
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
    const statement = (sql: string, values: Bindings, done: Done) => {
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
    const db = toKnex({ run: statement, all: statement }, owner)
    const { syncMs } = faults
    if (syncMs !== undefined) {
      db.client.synced = () => new Promise<void>((resolve) => world.after(syncMs(), resolve, owner))
    }
    return db
  }

  function toKnex(connection: Connection, owner: Owner): Db {
    const db = knex({
      ...naming,
      client: DriverlessClient as unknown as typeof Knex.Client,
      connection: { filename: ':memory:' },
      useNullAsDefault: true,
      // Knex's own pool waits by the real clock.
      pool: { max: 0 },
    })
    db.client.acquireConnection = () =>
      new Promise((resolve) => {
        if (owner.isGone) return
        waiting.push({ owner, begin: () => resolve(connection) })
        if (holder === undefined) handOn()
      })
    db.client.releaseConnection = async () => {
      if (holder === owner) handOn()
    }
    return db
  }

  function handOn(): void {
    const next = waiting.shift()
    holder = next?.owner
    next?.begin()
  }

  function execute(sql: string, values: Bindings = [], done: Done): void {
    let rows: unknown[]
    try {
      const statement = prepare(sql)
      rows =
        'each' in values
          ? values.each.map((bindings) => Number(statement.run(...bindings.map(toValue)).changes))
          : statement.all(...values.map(toValue))
    } catch (error) {
      return done.call({}, error as Error)
    }
    // As the driver does: of a statement that changed nothing it says so.
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
