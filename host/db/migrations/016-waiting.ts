import type { Knex } from 'knex'

/** What waits for a lane, the longest owed first, as it is released: each step of that would read all that waits. */
export async function up(db: Knex): Promise<void> {
  await db.raw('drop index jobs_waiting')
  await db.raw(`create index jobs_waiting on jobs (lane, position) where state = 'waiting'`)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index jobs_waiting')
  await db.raw(`create index jobs_waiting on jobs (lane) where state = 'waiting'`)
}
