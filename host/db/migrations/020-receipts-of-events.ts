import type { Knex } from 'knex'

/** Which event a dispatch was for: what a handler did is found by it. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('receipts', (table) => {
    table.text('event_id')
  })
  await db.raw('create index receipts_of_event on receipts (event_id) where event_id is not null')
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index receipts_of_event')
  await db.schema.alterTable('receipts', (table) => {
    table.dropColumn('event_id')
  })
}
