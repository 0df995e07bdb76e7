import type { Knex } from 'knex'

/** Events that wait for a resume, by age: those that wait for too long are pruned. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`create index jobs_waiting_events on jobs (id) where state = 'waiting' and kind = 'event'`)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index jobs_waiting_events')
}
