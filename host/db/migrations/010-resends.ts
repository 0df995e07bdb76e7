import type { Knex } from 'knex'

/** What operators have sent again together: which deliveries, how fast, and how far it has come. */
export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('resends', (table) => {
    table.text('id').primary()
    // Who asked for it; empty: an operator.
    table.text('organization_id').references('organizations.id').onDelete('CASCADE')
    // Which deliveries, as JSON.
    table.text('filter').notNullable()
    table.double('per_second').notNullable()
    table.text('state').notNullable()
    table.bigInteger('count').notNullable()
    table.bigInteger('sent').notNullable()
    // The id of the last delivery that was looked at.
    table.text('after').notNullable()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('finished_at')
  })
}

export async function down(db: Knex): Promise<void> {
  await db.schema.dropTable('resends')
}
