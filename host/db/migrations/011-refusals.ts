import type { Knex } from 'knex'

/** When a delivery failed without an attempt, as an id: the live feed has its place by it. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('deliveries', (table) => {
    table.text('refused_id')
  })
  await db.raw('create index deliveries_refused on deliveries (refused_id) where refused_id is not null')
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index deliveries_refused')
  await db.raw('alter table ?? drop column ??', ['deliveries', 'refused_id'])
}
