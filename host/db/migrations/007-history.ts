import type { Knex } from 'knex'
import { isPostgres } from '../sql.ts'

/** What remains of deliveries when they are pruned, and how a delivery's job and the oldest history are found. */
export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('delivery_counts', (table) => {
    table.text('endpoint_id').notNullable().references('endpoints.id').onDelete('CASCADE')
    // The day in UTC, in Unix ms.
    table.bigInteger('day').notNullable()
    table.bigInteger('delivered').notNullable()
    table.bigInteger('failed').notNullable()
    table.bigInteger('attempts').notNullable()
    table.primary(['endpoint_id', 'day'])
  })
  await db.schema.alterTable('events', (table) => {
    table.index(['received_at'])
  })
  await db.raw(`create index jobs_failed on jobs (kind, id) where state = 'failed'`)
  // The job of a delivery has its id, but for the prefix.
  const delivery = isPostgres(db) ? `subject::jsonb ->> 'id'` : `subject ->> '$.id'`
  await db.raw(`update jobs set id = 'job_' || substr(${delivery}, 5) where kind = 'delivery'`)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index jobs_failed')
  await db.schema.alterTable('events', (table) => {
    table.dropIndex(['received_at'])
  })
  await db.schema.dropTable('delivery_counts')
}
