import type { Knex } from 'knex'

/** What the charts show: counts by minute and hour, many of them in one row. */
export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('activity', (table) => {
    // An organization; an empty text is the whole of Annex.
    table.text('owner').notNullable()
    table.integer('step_ms').notNullable()
    table.bigInteger('start_ms').notNullable()
    // Compressed JSON. Null: the transaction that made the row writes it.
    table.binary('slots')
    table.primary(['owner', 'step_ms', 'start_ms'])
    table.index(['step_ms', 'start_ms'])
  })
}

export async function down(db: Knex): Promise<void> {
  await db.schema.dropTable('activity')
}
