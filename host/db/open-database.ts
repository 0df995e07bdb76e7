import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import knex, { type Knex } from 'knex'
import pg from 'pg'
import { AnnexError } from '../errors/annex-error.ts'
import { migrations } from './migrations/index.ts'

/** The database, or the transaction that a step belongs to. Every query takes one. */
export type Db = Knex

/** Where the data lies: `sqlite` is one file owned by one process; `postgres` is shared by any number. */
export type Dialect = 'sqlite' | 'postgres'

export type Database = { db: Db; dialect: Dialect; close: () => Promise<void> }

// A 64-bit integer (our times in ms) is read as a number, not as text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/**
 * Opens the database and brings its tables up to date.
 *
 * @param url `sqlite:PATH`, `postgres://…`, or empty for `annex.sqlite` in `dataDir`
 * @throws AnnexError `settings_invalid` when the address is neither
 */
export async function openDatabase(url: string, dataDir: string): Promise<Database> {
  const dialect = dialectOf(url)
  const db = dialect === 'postgres' ? openPostgres(url) : openSqlite(url.replace(/^sqlite:/, ''), dataDir)
  await db.migrate.latest({ migrationSource: migrations })
  return { db, dialect, close: () => db.destroy() }
}

/** Columns are snake_case, as SQL has them; the code reads and writes camelCase. */
const naming: Pick<Knex.Config, 'wrapIdentifier' | 'postProcessResponse'> = {
  // Knex asks for the name of a constraint that has none, too.
  wrapIdentifier: (name: string | undefined, original) =>
    original(name?.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as string),
  postProcessResponse: (response) =>
    Array.isArray(response) ? response.map(toCamelCase) : toCamelCase(response),
}

function toCamelCase(row: unknown): unknown {
  if (row === null || typeof row !== 'object' || Array.isArray(row)) return row
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )
}

function dialectOf(url: string): Dialect {
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgres'
  if (url === '' || url.startsWith('sqlite:')) return 'sqlite'
  throw new AnnexError('settings_invalid', 'DATABASE_URL is neither sqlite:PATH nor postgres://…')
}

function openPostgres(url: string): Db {
  return knex({ ...naming, client: 'pg', connection: url, pool: { min: 0, max: 10 } })
}

function openSqlite(path: string, dataDir: string): Db {
  const filename = path === '' ? join(dataDir, 'annex.sqlite') : path
  mkdirSync(dirname(filename), { recursive: true })
  return knex({
    ...naming,
    client: 'sqlite3',
    connection: { filename },
    useNullAsDefault: true,
    // One writer, so one connection: SQLite would make a second one wait or fail.
    pool: { min: 1, max: 1, afterCreate: setPragmas },
  })
}

type Connection = { exec: (sql: string, done: (error: Error | null) => void) => void }

function setPragmas(
  connection: Connection,
  done: (error: Error | null, connection: Connection) => void,
): void {
  // FULL: a commit is on the disk when it returns. NORMAL loses acknowledged events in a power cut.
  connection.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000;',
    (error) => done(error, connection),
  )
}
