import type { Knex } from 'knex'
import { isPostgres } from '../sql.ts'

/**
 * The deliveries that have failed, found by their reason, which the others have none of: `state` changes with each delivery
 * that is settled, and as long as an index asks for it, PostgreSQL writes a settled one into all indexes again. For the same
 * end its pages keep room for what will be settled on them.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw('drop index deliveries_failed')
  await db.raw(
    `update deliveries set reason = 'Nothing is known of it.' where state = 'failed' and reason is null`,
  )
  await db.raw('create index deliveries_failed on deliveries (id) where reason is not null')
  if (isPostgres(db)) await db.raw('alter table deliveries set (fillfactor = 60)')
}

export async function down(db: Knex): Promise<void> {
  if (isPostgres(db)) await db.raw('alter table deliveries reset (fillfactor)')
  await db.raw('drop index deliveries_failed')
  await db.raw(`create index deliveries_failed on deliveries (id) where state = 'failed'`)
}
