import type { Knex } from 'knex'
import { AnnexError } from '../errors.ts'
import type { Db, Dialect } from './db.ts'
import * as tables from './migrations/001-tables.ts'
import * as siteUrl from './migrations/002-site-url.ts'
import * as waitingVersions from './migrations/003-waiting-versions.ts'
import * as linkMakers from './migrations/004-link-makers.ts'
import * as secretSettings from './migrations/005-secret-settings.ts'
import * as installLinks from './migrations/006-install-links.ts'
import * as handledEvents from './migrations/009-handled-events.ts'
import * as typedHosts from './migrations/010-typed-hosts.ts'
import * as foundIntegrations from './migrations/011-found-integrations.ts'
import * as queuedWork from './migrations/012-queued-work.ts'
import * as contentBytes from './migrations/013-content-bytes.ts'
import * as viewCookies from './migrations/014-view-cookies.ts'
import * as settingKinds from './migrations/015-setting-kinds.ts'
import * as levels from './migrations/016-levels.ts'
import * as accounts from './migrations/017-accounts.ts'
import * as activity from './migrations/018-activity.ts'
import * as outboundRequests from './migrations/019-outbound-requests.ts'
import * as openid from './migrations/020-openid.ts'
import * as installationHistory from './migrations/021-installation-history.ts'
import * as pageWriters from './migrations/023-page-writers.ts'
import { listTables, rawRows } from './sql.ts'

/** A random number: PostgreSQL names advisory locks by numbers. */
const lockKey = 7_140_366_198

/** Knex's table of applied steps. */
const stepTable = 'knex_migrations'

/**
 * Brings the tables up to date, all steps in one transaction: a host that is killed meanwhile leaves neither a half
 * migration nor a lock. Of several hosts that start on one PostgreSQL, the first migrates and the others wait for it.
 *
 * @throws AnnexError `schema_newer` for tables of a newer Annex, `schema_older` for those of an unreleased build,
 *   `settings_invalid` for a PostgreSQL database that cannot hold every text
 */
export async function migrate(db: Db, dialect: Dialect): Promise<void> {
  if (dialect === 'sqlite') return runSteps(db)
  await assertUnicode(db)
  await db.transaction(async (locked) => {
    // PostgreSQL frees this lock with the connection. Knex's lock is a row in a table that Knex creates without a lock.
    await locked.raw('select pg_advisory_xact_lock(?)', [lockKey])
    // On another connection: Knex would remove the naming of columns from a connection that it is given.
    await runSteps(db)
  })
}

/** Other encodings lack characters, so storing an event with one would fail. SQL_ASCII stores unchecked bytes. */
async function assertUnicode(db: Db): Promise<void> {
  const sql = `select current_setting('server_encoding') as encoding`
  const [row] = await rawRows<{ encoding: string }>(db, sql, [])
  if (row === undefined || row.encoding === 'UTF8') return
  throw new AnnexError(
    'settings_invalid',
    `DATABASE_URL: the database has the encoding ${row.encoding}, and Annex stores any text: it needs UTF8. ` +
      "Make another one: CREATE DATABASE annex TEMPLATE template0 ENCODING 'UTF8'",
  )
}

async function runSteps(db: Db): Promise<void> {
  await assertKnown(db)
  await db.migrate.latest({ migrationSource: migrations, tableName: stepTable })
}

/** @returns the names of the applied steps; `undefined` for a database without tables of Annex */
export async function stepsHad(db: Db): Promise<string[] | undefined> {
  if (!(await db.schema.hasTable(stepTable))) return undefined
  return db(stepTable).orderBy('id').pluck('name')
}

/** @throws AnnexError `conflict` for a database without tables or with older ones; `schema_newer`, `settings_invalid` */
export async function assertCurrent(db: Db): Promise<void> {
  await assertKnown(db)
  const had = await stepsHad(db)
  if (had === undefined) throw new AnnexError('conflict', 'The database has no tables of Annex.')
  if (had.length === stepNames.length) return
  throw new AnnexError(
    'conflict',
    'The tables of the database are those of an older Annex. Bring them up to date: `npx annex migrate` with its DATABASE_URL.',
  )
}

/** The first step of a build before 0.1.0, and that of each version since. */
const firstSteps: readonly string[] = ['001-records', '001-tables']

/**
 * @throws AnnexError `schema_newer` for tables of a newer Annex, which older code may misunderstand; `schema_older`;
 *   `settings_invalid` for tables of another program, which must not get ours beside them
 */
async function assertKnown(db: Db): Promise<void> {
  const had = (await stepsHad(db)) ?? []
  const [first] = had
  if (first === undefined || !firstSteps.includes(first)) await assertEmpty(db)
  if (first === '001-records') {
    throw new AnnexError(
      'schema_older',
      'The tables of the database are those of a build before 0.1.0, which was not released. Start with a new DATA_DIR, or an empty database.',
    )
  }
  const unknown = had.filter((name) => !stepNames.includes(name))
  if (unknown.length === 0) return
  throw new AnnexError(
    'schema_newer',
    `The tables of the database are those of a newer Annex: they have had ${unknown.join(', ')}, and this one knows ` +
      `no step after ${stepNames.at(-1)}. Start the newer version, or go back to a copy of the database from before it: ` +
      'docs/upgrading.md.',
  )
}

/** A first start that was killed may have left Knex's tables. */
async function assertEmpty(db: Db): Promise<void> {
  const others = (await listTables(db)).filter((name) => ![stepTable, `${stepTable}_lock`].includes(name))
  if (others.length === 0) return
  const shown = others.slice(0, 3).join(', ') + (others.length > 3 ? ' …' : '')
  throw new AnnexError(
    'settings_invalid',
    `The database has tables of another program (${shown}), and none of Annex. Give Annex an empty database: ` +
      'DATABASE_URL, or a new DATA_DIR.',
  )
}

type Step = { up: (db: Knex) => Promise<void>; down: (db: Knex) => Promise<void> }

/** Steps are numbered and only appended. A released step is never changed. */
const steps: readonly [string, Step][] = [
  ['001-tables', tables],
  ['002-site-url', siteUrl],
  ['003-waiting-versions', waitingVersions],
  ['004-link-makers', linkMakers],
  ['005-secret-settings', secretSettings],
  ['006-install-links', installLinks],
  ['009-handled-events', handledEvents],
  ['010-typed-hosts', typedHosts],
  ['011-found-integrations', foundIntegrations],
  ['012-queued-work', queuedWork],
  ['013-content-bytes', contentBytes],
  ['014-view-cookies', viewCookies],
  ['015-setting-kinds', settingKinds],
  ['016-levels', levels],
  ['017-accounts', accounts],
  ['018-activity', activity],
  ['019-outbound-requests', outboundRequests],
  ['020-openid', openid],
  ['021-installation-history', installationHistory],
  ['023-page-writers', pageWriters],
]

export const stepNames: readonly string[] = steps.map(([name]) => name)

export const migrations: Knex.MigrationSource<(typeof steps)[number]> = {
  getMigrations: async () => [...steps],
  getMigrationName: ([name]) => name,
  getMigration: async ([, step]) => step,
}
