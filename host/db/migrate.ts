import { AnnexError } from '../errors/annex-error.ts'
import type { Db, Dialect } from './db.ts'
import { migrations, stepNames } from './migrations/index.ts'

/** Chosen at random, once: a lock of PostgreSQL has no other name. */
const lockKey = 7_140_366_198

/** Where Knex keeps the names of the steps that a database has had. */
const stepTable = 'knex_migrations'

/**
 * Brings the tables up to date, all steps in one transaction: a host that is killed meanwhile leaves neither half of
 * them nor a lock behind. Of hosts that start at once on one PostgreSQL one does it, and the others wait for it.
 *
 * @throws AnnexError `schema_newer` when the tables have had a step that this Annex does not know
 */
export async function migrate(db: Db, dialect: Dialect): Promise<void> {
  if (dialect === 'sqlite') return runSteps(db)
  await db.transaction(async (locked) => {
    // Ends with the connection at the latest. Knex's own lock is a row of a table that it makes first, without a lock.
    await locked.raw('select pg_advisory_xact_lock(?)', [lockKey])
    // On a connection of its own: Knex would take our naming of columns away from the one that it is given.
    await runSteps(db)
  })
}

async function runSteps(db: Db): Promise<void> {
  await assertKnown(db)
  await db.migrate.latest({ migrationSource: migrations, tableName: stepTable })
}

/** Older code may write what a newer table does not take, or worse, what it takes and misunderstands. */
async function assertKnown(db: Db): Promise<void> {
  if (!(await db.schema.hasTable(stepTable))) return
  const had: string[] = await db(stepTable).orderBy('id').pluck('name')
  const unknown = had.filter((name) => !stepNames.includes(name))
  if (unknown.length === 0) return
  throw new AnnexError(
    'schema_newer',
    `The tables of the database are those of a newer Annex: they have had ${unknown.join(', ')}, and this one knows ` +
      `no step after ${stepNames.at(-1)}. Start the newer version, or go back to a copy of the database from before it.`,
  )
}
