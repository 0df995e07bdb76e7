import type { Knex } from 'knex'

const isLater = `state = 'due' and kind = 'delivery' and due_at > created_at`

/**
 * The deliveries that come due later by themselves, found by kind and time: by time alone SQLite takes another index, and reads
 * all that is owed.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw('drop index jobs_later')
  await db.raw(`create index jobs_later on jobs (kind, due_at) where ${isLater}`)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index jobs_later')
  await db.raw(`create index jobs_later on jobs (due_at) where ${isLater}`)
}
