import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import knex, { type Knex } from 'knex'
import sqlite3 from 'sqlite3'
import { AnnexError } from '../errors/annex-error.ts'
import { stoppingError } from '../errors/stopping.ts'
import { createClock, type SteadyClock } from './database-clock.ts'
import type { Db, Dialect } from './db.ts'
import { endAtFailedSync, explainDatabaseError, nameErrorsOf } from './errors.ts'
import { migrate } from './migrate.ts'
import { knexConfig } from './sql.ts'

export type Database = {
  /** On SQLite the one connection that writes. */
  db: Db
  /** For short reads that must not wait while something is stored: those for a visitor of an endpoint. */
  reader: Db
  /** For what may read a million rows: lists by any filter, and sums. Its connections are those of no visitor and no delivery. */
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
  let opened: Connections | undefined
  try {
    opened = dialect === 'postgres' ? await openServer(url) : openSqlite(url.replace(/^sqlite:/, ''), dataDir)
    const { writer, reader, longReader } = opened
    await prepare(writer.db, dialect)
    const clock = await createClock({ db: writer.db, dialect })
    for (const { db } of [writer, reader, longReader]) db.userParams = { ...db.userParams, clock }
    return {
      db: writer.db,
      reader: reader.db,
      longReader: longReader.db,
      dialect,
      url,
      clock,
      close: () => closeAll(opened),
    }
  } catch (error) {
    await closeAll(opened)
    throw explainDatabaseError(error, url === '' ? 'DATA_DIR' : 'DATABASE_URL')
  }
}

type Connections = { writer: Closable; reader: Closable; longReader: Closable }

/** One may take a second; short reads use the other one meanwhile. */
const longReads = 2

async function openServer(url: string): Promise<Connections> {
  const writer = toClosable(await openPostgres(url))
  return { writer, reader: writer, longReader: toClosable(await openPostgres(url, longReads)) }
}

async function closeAll(connections: Connections | undefined): Promise<void> {
  if (connections === undefined) return
  const { writer, reader, longReader } = connections
  // The connection that writes ends last: it leaves a file without its log.
  const all = new Set([longReader, reader, writer])
  for (const one of all) one.refuse()
  for (const one of all) await one.close()
}

function dialectOf(url: string): Dialect {
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgres'
  if (url === '' || url.startsWith('sqlite:')) return 'sqlite'
  throw new AnnexError('settings_invalid', 'DATABASE_URL is neither sqlite:PATH nor postgres://…')
}

/** The name of our sessions in `pg_stat_activity`. */
export const applicationName = 'annex'

/** @param connections the size of the pool. Default: 10 */
export async function openPostgres(url: string, connections = 10): Promise<Db> {
  // Loaded only here, as it would take a twentieth of a start on SQLite.
  const { default: pg } = await import('pg')
  // A 64-bit integer (our times in ms) is read as a number, not as text.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  return knex({
    ...knexConfig,
    client: 'pg',
    connection: { connectionString: url, application_name: applicationName },
    pool: { min: 0, max: connections },
  })
}

// SQLITE_OPEN_EXRESCODE: only an extended result code tells a sync that failed from a write that did. Knex takes flags by the
// names that the package has for them, and the package has none for this one.
Object.assign(sqlite3, { OPEN_EXRESCODE: 0x02_00_00_00 })

const pragmas = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  -- 4 MiB of pages. A larger cache costs each commit time, and the system caches the file anyway.
  PRAGMA cache_size = -4096;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA temp_store = MEMORY;
`

/** How long a statement waits for another process to unlock the file. */
const busyMs = 5_000

/**
 * One connection writes, two read for visitors, and two read for lists and sums. Each statement runs in one of libuv's threads,
 * so the event loop waits for no disk.
 *
 * @param path empty: `annex.sqlite` in `dataDir`
 */
function openSqlite(path: string, dataDir: string): Record<'writer' | 'reader' | 'longReader', Closable> {
  const filename = path === '' ? join(dataDir, 'annex.sqlite') : path
  if (filename === ':memory:') {
    const only = openWriter(filename)
    return { writer: only, reader: only, longReader: only }
  }
  makePrivateFile(filename)
  // A file that the operator has put elsewhere may belong to a group on purpose.
  if (path === '') chmodSync(filename, 0o600)
  const { href } = pathToFileURL(filename)
  // Knex always opens with OPEN_READWRITE, so the URL has to say that a connection only reads.
  const openReader = () => open(`${href}?mode=ro`, 2)
  return { writer: openWriter(href), reader: openReader(), longReader: openReader() }
}

/** SQLite has one writer: a second connection would wait or fail. */
function openWriter(filename: string): Closable {
  const writer = open(filename, 1, pragmas)
  endAtFailedSync(writer.db)
  return writer
}

function open(filename: string, connections: number, begin = ''): Closable {
  const closable = toClosable(
    knex({
      ...knexConfig,
      client: 'sqlite3',
      connection: { filename, flags: ['OPEN_URI', 'OPEN_EXRESCODE'] },
      useNullAsDefault: true,
      pool: {
        min: connections,
        max: connections,
        afterCreate(connection: sqlite3.Database, done: (error: Error | null) => void) {
          // One statement at a time: the others would each block a thread while they wait for the first.
          connection.serialize()
          connection.configure('busyTimeout', busyMs)
          connection.exec(begin, done)
        },
      },
    }),
  )
  nameErrorsOf(closable.db)
  return closable
}

/** SQLite gives its other files the mode of this one. */
function makePrivateFile(filename: string): void {
  mkdirSync(dirname(filename), { recursive: true, mode: 0o700 })
  closeSync(openSync(filename, 'a', 0o600))
}

/** Connections that can be closed while queries come in. */
type Closable = {
  db: Db
  /** From now on queries and transactions are refused. Those that have begun go on. */
  refuse: () => void
  /** Settles when all that has begun is over, and the connections are closed. */
  close: () => Promise<void>
}

/** Puts a gate before Knex's own pool, which makes a query wait for a minute while it is closed. */
function toClosable(opened: Knex): Closable {
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
