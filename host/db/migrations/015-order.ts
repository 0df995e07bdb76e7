import type { Knex } from 'knex'

/**
 * The due jobs of a lane, those that keep no order apart: of the others only the first may be done, which the index by position
 * finds. Looked for among all, each delivery would read as many as are owed after it.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw('drop index jobs_due_by_lane')
  await db.raw(`create index jobs_due_by_lane on jobs (kind, lane, ordered, due_at) where state = 'due'`)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index jobs_due_by_lane')
  await db.raw(`create index jobs_due_by_lane on jobs (kind, lane, due_at) where state = 'due'`)
}
