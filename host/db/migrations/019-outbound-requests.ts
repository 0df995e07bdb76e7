import type { Knex } from 'knex'

/** What leads from a dispatch to its outbound requests, and from a delivery to the dispatch that made it. Earlier rows have none. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('receipts', (table) => {
    // JSON. A page of receipts does not read it.
    table.text('outbound_requests')
  })
  await db.schema.alterTable('deliveries', (table) => {
    table.text('request_id')
  })
  await db.raw('create index deliveries_of_request on deliveries (request_id) where request_id is not null')
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index deliveries_of_request')
  await db.schema.alterTable('deliveries', (table) => table.dropColumn('request_id'))
  await db.schema.alterTable('receipts', (table) => table.dropColumn('outbound_requests'))
}
