import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import knex, { type Knex } from 'knex'
import { AnnexError } from '../errors/annex-error.ts'
import { stoppingError } from '../errors/stopping.ts'
import { createClock, type SteadyClock } from './database-clock.ts'
import type { Db, Dialect } from './db.ts'
import { explainDatabaseError } from './explain-database-error.ts'
import { naming } from './knex-config.ts'
import { migrate } from './migrate.ts'
import { NodeSqliteClient, type SqliteConnection } from './sqlite/node-sqlite-client.ts'
import { ReadingClient } from './sqlite/reading-client.ts'

export type Database = {
  db: Db
  /** For those who only read, and must not wait while something is stored: a visitor of an endpoint. */
  reader: Db
  /**
   * For what may read a million rows: lists by any filter, and sums. On SQLite threads of its own do it, on PostgreSQL
   * connections of its own: however much people ask, it is never those of deliveries and visitors that are busy with it.
   */
  longReader: Db
  dialect: Dialect
  /** As the setting has it, with its password: for a connection of one's own. */
  url: string
  /** Of due times. Queries find it with `nowOf`. */
  clock: SteadyClock
  close: () => Promise<void>
}

/**
 * Opens the database and brings its tables up to date.
 *
 * @param url `sqlite:PATH`, `postgres://…`, or empty for `annex.sqlite` in `dataDir`
 * @param prepare what to do with its tables instead
 * @throws AnnexError `settings_invalid` when the address is neither, and when no database can be opened there;
 *   `schema_newer`
 */
export async function openDatabase(url: string, dataDir: string, prepare = migrate): Promise<Database> {
  const dialect = dialectOf(url)
  let opened: Opened | undefined
  try {
    opened = dialect === 'postgres' ? await openServer(url) : openFile(url, dataDir)
    const { db, reader, longReader } = opened
    await prepare(db, dialect)
    const clock = await createClock({ db, dialect })
    for (const one of [db, reader, longReader]) one.userParams = { ...one.userParams, clock }
    return { ...opened, dialect, url, clock }
  } catch (error) {
    await opened?.close()
    throw explainDatabaseError(error, url === '' ? 'DATA_DIR' : 'DATABASE_URL')
  }
}

type Opened = Pick<Database, 'db' | 'reader' | 'longReader' | 'close'>

/** At once: one may take a second, and others find at once what they ask for. */
const longReads = 2

/** PostgreSQL has connections enough for readers and writers. */
async function openServer(url: string): Promise<Opened> {
  const db = await openPostgres(url)
  return together({ db, reader: db, longReader: await openPostgres(url, longReads) })
}

function together(connections: Pick<Database, 'db' | 'reader' | 'longReader'>): Opened {
  const { db, reader, longReader } = connections
  return {
    ...connections,
    async close() {
      // The one that writes ends last: it leaves a file without its log.
      const all = [...new Set([longReader, reader, db])]
      for (const one of all) refuseAll(one)
      for (const one of all) await one.destroy()
    },
  }
}

/** Whoever asks from now on: Knex's pool would let them wait for a minute while it ends. */
function refuseAll(db: Db): void {
  db.client.acquireConnection = async () => {
    throw stoppingError()
  }
}

/** Knex would write to the terminal what its caller is told anyway. */
const silent: Knex.Logger = { warn() {}, error() {}, deprecate() {}, debug() {} }

function dialectOf(url: string): Dialect {
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgres'
  if (url === '' || url.startsWith('sqlite:')) return 'sqlite'
  throw new AnnexError('settings_invalid', 'DATABASE_URL is neither sqlite:PATH nor postgres://…')
}

/** The name of our sessions in `pg_stat_activity`. */
export const applicationName = 'annex'

/** @param connections at once. Default: 10 */
export async function openPostgres(url: string, connections = 10): Promise<Db> {
  // Loaded only where it is used: it takes a twentieth of the time until the first delivery after a start.
  const { default: pg } = await import('pg')
  // A 64-bit integer (our times in ms) is read as a number, not as text.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  return knex({
    ...naming,
    log: silent,
    client: 'pg',
    connection: { connectionString: url, application_name: applicationName },
    pool: { min: 0, max: connections },
  })
}

function openFile(url: string, dataDir: string): Opened {
  const path = url.replace(/^sqlite:/, '')
  const filename = path === '' ? join(dataDir, 'annex.sqlite') : path
  if (filename !== ':memory:') makePrivateFile(filename)
  // One that an operator has put elsewhere may be shared with a group on purpose.
  if (path === '') chmodSync(filename, 0o600)
  // One writer, so one connection: SQLite would make a second one wait or fail.
  const db = openSqlite(NodeSqliteClient, { filename }, { min: 1, max: 1 })
  if (filename === ':memory:') return together({ db, reader: db, longReader: db })
  const reader = openSqlite(NodeSqliteClient, { filename, readOnly: true }, { min: 1, max: 1 })
  return together({
    db,
    reader,
    longReader: openSqlite(ReadingClient, { filename }, { min: 0, max: longReads }),
  })
}

const openSqlite = (client: object, connection: SqliteConnection, pool: Knex.PoolConfig): Db =>
  knex({
    ...naming,
    log: silent,
    client: client as typeof Knex.Client,
    connection,
    useNullAsDefault: true,
    pool,
  })

/** SQLite gives its other files the mode of this one. */
function makePrivateFile(filename: string): void {
  mkdirSync(dirname(filename), { recursive: true, mode: 0o700 })
  closeSync(openSync(filename, 'a', 0o600))
}
