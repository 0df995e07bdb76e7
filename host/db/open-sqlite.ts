import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import knex from 'knex'
import sqlite3 from 'sqlite3'
import { type Closable, toClosable } from './closable.ts'
import { endAtFailedSync, nameErrorsOf } from './errors.ts'
import { knexConfig } from './sql.ts'

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
export function openSqlite(
  path: string,
  dataDir: string,
): Record<'writer' | 'reader' | 'longReader', Closable> {
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
