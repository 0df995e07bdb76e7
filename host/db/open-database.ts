import knex from 'knex'
import { AnnexError } from '../errors/annex-error.ts'
import { type Closable, toClosable } from './closable.ts'
import { createClock, type SteadyClock } from './database-clock.ts'
import type { Db, Dialect } from './db.ts'
import { explainDatabaseError } from './errors.ts'
import { migrate } from './migrate.ts'
import { openSqlite } from './open-sqlite.ts'
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
