import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import knex, { type Knex } from 'knex'
import { AnnexError } from '../errors/annex-error.ts'
import { createClock, type SteadyClock } from './database-clock.ts'
import type { Db, Dialect } from './db.ts'
import { explainDatabaseError } from './explain-database-error.ts'
import { migrate } from './migrate.ts'
import { createFlush } from './postgres/flush.ts'
import { naming } from './rows/naming.ts'
import { NodeSqliteClient, type SqliteConnection, synced } from './sqlite/node-sqlite-client.ts'

export type Database = {
  db: Db
  /** For those who only read, and must not wait while something is stored: a visitor of an endpoint. */
  reader: Db
  dialect: Dialect
  /** As the setting has it, with its password: for a connection of one's own. */
  url: string
  /** Of due times. Queries find it with `nowOf`. */
  clock: SteadyClock
  /** Settles when the disk has all that was committed before the call. */
  synced: () => Promise<void>
  close: () => Promise<void>
}

/**
 * Opens the database and brings its tables up to date.
 *
 * @param url `sqlite:PATH`, `postgres://…`, or empty for `annex.sqlite` in `dataDir`
 * @throws AnnexError `settings_invalid` when the address is neither, and when no database can be opened there;
 *   `schema_newer`
 */
export async function openDatabase(url: string, dataDir: string): Promise<Database> {
  const dialect = dialectOf(url)
  let opened: Opened | undefined
  try {
    opened = dialect === 'postgres' ? openBoth(await openPostgres(url)) : openSqlite(url, dataDir)
    const { db } = opened
    await migrate(db, dialect)
    const clock = await createClock({ db, dialect })
    db.userParams = { ...db.userParams, clock }
    return {
      ...opened,
      dialect,
      url,
      clock,
      synced: dialect === 'postgres' ? createFlush(db) : () => synced(db),
    }
  } catch (error) {
    await opened?.close()
    throw explainDatabaseError(error, url === '' ? 'DATA_DIR' : 'DATABASE_URL')
  }
}

type Opened = Pick<Database, 'db' | 'reader' | 'close'>

/** PostgreSQL has connections enough for readers and writers. */
const openBoth = (db: Db): Opened => ({ db, reader: db, close: () => db.destroy() })

/** Knex would write to the terminal what its caller is told anyway. */
const silent: Knex.Logger = { warn() {}, error() {}, deprecate() {}, debug() {} }

function dialectOf(url: string): Dialect {
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgres'
  if (url === '' || url.startsWith('sqlite:')) return 'sqlite'
  throw new AnnexError('settings_invalid', 'DATABASE_URL is neither sqlite:PATH nor postgres://…')
}

/** @param connections at once. Default: 10. For one's own, beside those that all share: fewer. */
export async function openPostgres(url: string, connections = 10): Promise<Db> {
  // Its client is loaded only here: with SQLite it would be a twentieth of the time until the first delivery after a start.
  const [{ default: pg }, { PostgresClient }] = await Promise.all([
    import('pg'),
    import('./postgres/postgres-client.ts'),
  ])
  // A 64-bit integer (our times in ms) is read as a number, not as text.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  return knex({
    ...naming,
    log: silent,
    client: PostgresClient as unknown as typeof Knex.Client,
    // What is asked at once over one connection leaves at once, and not each after the answer to the one before it.
    connection: { connectionString: url, pipeline: true } as Knex.PgConnectionConfig,
    pool: { min: 0, max: connections },
  })
}

function openSqlite(url: string, dataDir: string): Opened {
  const path = url.replace(/^sqlite:/, '')
  const filename = path === '' ? join(dataDir, 'annex.sqlite') : path
  if (filename !== ':memory:') makePrivateFile(filename)
  // One that an operator has put elsewhere may be shared with a group on purpose.
  if (path === '') chmodSync(filename, 0o600)
  const db = connectSqlite({ filename })
  if (filename === ':memory:') return openBoth(db)
  const reader = connectSqlite({ filename, readOnly: true })
  return {
    db,
    reader,
    async close() {
      await reader.destroy()
      await db.destroy()
    },
  }
}

function connectSqlite(connection: SqliteConnection): Db {
  return knex({
    ...naming,
    log: silent,
    client: NodeSqliteClient as unknown as typeof Knex.Client,
    connection,
    useNullAsDefault: true,
    // One writer, so one connection: SQLite would make a second one wait or fail.
    pool: { min: 1, max: 1 },
  })
}

/** SQLite gives its other files the mode of this one. */
function makePrivateFile(filename: string): void {
  mkdirSync(dirname(filename), { recursive: true, mode: 0o700 })
  closeSync(openSync(filename, 'a', 0o600))
}
