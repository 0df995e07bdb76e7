import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import knex, { type Knex } from 'knex'
import type { Client } from 'pg'
import sqlite3 from 'sqlite3'
import { AnnexError, stoppingError } from '../errors.ts'
import { listenTo, type OnNews } from './announce.ts'
import { createClock, type SteadyClock } from './database-clock.ts'
import type { Db, Dialect } from './db.ts'
import { endAtFailedSync, explainDatabaseError, nameErrorsOf } from './errors.ts'
import { migrate } from './migrate.ts'
import { keepPrepared } from './prepared-statements.ts'
import { knexConfig } from './sql.ts'

export type Database = {
  /** On SQLite the one connection that writes. */
  db: Db
  /** For short reads that must not wait for a write, as those for a visitor of an endpoint. */
  reader: Db
  /** For lists and sums, which may read a million rows. Visitors and deliveries use other connections. */
  longReader: Db
  dialect: Dialect
  /** The setting, password included, for a separate connection. */
  url: string
  /** The clock of due times. Queries read it by `nowOf`. */
  clock: SteadyClock
  onNews: OnNews
  close: () => Promise<void>
}

/**
 * Opens the database and brings its tables up to date.
 *
 * @param url `sqlite:PATH`, `postgres://…`, or empty for `annex.sqlite` in `dataDir`
 * @param prepare prepares the tables. Default: `migrate`
 * @throws AnnexError `settings_invalid` for any other address, and when no database can be opened there;
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
      onNews: listenTo(writer.db),
      close: () => closeAll(opened),
    }
  } catch (error) {
    await closeAll(opened)
    throw explainDatabaseError(error, url === '' ? 'DATA_DIR' : 'DATABASE_URL')
  }
}

type Connections = { writer: Closable; reader: Closable; longReader: Closable }

/** While one long read takes a second, another can run. */
const longReads = 2

/**
 * PostgreSQL learns the sizes of tables once a minute. A table of jobs that was empty then would be read whole for each of ten
 * thousand jobs of a burst. The way over an index costs little more where a table is small. Where there is no index, the settings
 * make a plan so expensive in figures that PostgreSQL would compile it: 0.1 s, each time.
 */
const byKeys = 'set enable_seqscan = off; set enable_bitmapscan = off; set jit = off'

async function openServer(url: string): Promise<Connections> {
  const writer = toClosable(await openPostgres(url, { settings: byKeys }))
  return {
    writer,
    reader: writer,
    longReader: toClosable(await openPostgres(url, { connections: longReads })),
  }
}

async function closeAll(connections: Connections | undefined): Promise<void> {
  if (connections === undefined) return
  const { writer, reader, longReader } = connections
  // The writer closes last: SQLite then removes the write-ahead log.
  const all = new Set([longReader, reader, writer])
  for (const one of all) one.refuse()
  for (const one of all) await one.close()
}

function dialectOf(url: string): Dialect {
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgres'
  if (url === '' || url.startsWith('sqlite:')) return 'sqlite'
  throw new AnnexError('settings_invalid', 'DATABASE_URL is neither sqlite:PATH nor postgres://…')
}

/** The name of Annex's sessions in `pg_stat_activity`. */
export const applicationName = 'annex'

/**
 * @param given.connections the size of the pool. Default: 10
 * @param given.settings SQL that each connection runs first
 */
export async function openPostgres(
  url: string,
  { connections = 10, settings = '' }: { connections?: number; settings?: string } = {},
): Promise<Db> {
  // Imported here alone: on SQLite it would slow the start down.
  const { default: pg } = await import('pg')
  // 64-bit integers, as times in ms, are read as numbers instead of texts.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  return knex({
    ...knexConfig,
    client: 'pg',
    connection: { connectionString: url, application_name: applicationName },
    pool: {
      min: 0,
      max: connections,
      afterCreate: ((connection, done) => connection.query(settings, done)) satisfies AfterCreate<Client>,
    },
  })
}

// SQLITE_OPEN_EXRESCODE: only extended result codes distinguish a failed sync from a failed write. Knex takes flags by their
// names in the package, and the package lacks this name.
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
  // An operator may share a file at another path with a group on purpose.
  if (path === '') chmodSync(filename, 0o600)
  const { href } = pathToFileURL(filename)
  // Knex always opens with OPEN_READWRITE, so the URL makes the connection read-only.
  const openReader = () => open(`${href}?mode=ro`, 2)
  return { writer: openWriter(href), reader: openReader(), longReader: openReader() }
}

/** SQLite has one writer: a second connection would wait or fail. */
function openWriter(filename: string): Closable {
  const writer = open(filename, 1, (connection, done) => {
    lockAtBegin(connection)
    connection.exec(pragmas, done)
  })
  endAtFailedSync(writer.db)
  return writer
}

type AfterCreate<Connection = sqlite3.Database> = (
  connection: Connection,
  done: (error: Error | null) => void,
) => void

/**
 * Lets a transaction wait for another process as it begins. Knex's plain BEGIN would fail at the first write when another
 * process has written since the first read.
 */
function lockAtBegin(connection: sqlite3.Database): void {
  const all: (sql: string, ...rest: unknown[]) => sqlite3.Database = connection.all.bind(connection)
  connection.all = (sql: string, ...rest: unknown[]) =>
    all(sql === 'BEGIN;' ? 'BEGIN IMMEDIATE;' : sql, ...rest)
}

function open(
  filename: string,
  connections: number,
  prepare: AfterCreate = (_connection, done) => done(null),
): Closable {
  const closable = toClosable(
    knex({
      ...knexConfig,
      client: 'sqlite3',
      connection: { filename, flags: ['OPEN_URI', 'OPEN_EXRESCODE'] },
      useNullAsDefault: true,
      pool: {
        min: connections,
        max: connections,
        afterCreate: ((connection, done) => {
          keepPrepared(connection)
          connection.configure('busyTimeout', busyMs)
          prepare(connection, done)
        }) satisfies AfterCreate,
      },
    }),
  )
  nameErrorsOf(closable.db)
  return closable
}

/** SQLite creates its log and shared-memory files with the mode of this file. */
function makePrivateFile(filename: string): void {
  mkdirSync(dirname(filename), { recursive: true, mode: 0o700 })
  closeSync(openSync(filename, 'a', 0o600))
}

/** Connections that can be closed while queries come in. */
type Closable = {
  db: Db
  /** Refuses new queries and transactions. Running ones go on. */
  refuse: () => void
  /** Settles when running queries have ended and the connections are closed. */
  close: () => Promise<void>
}

/** Puts a gate before Knex's pool: a closed pool makes each query wait for a minute. */
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
