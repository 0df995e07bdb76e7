import type { Knex } from 'knex'

const counts = ['deliveries', 'tasks']

/** Deliveries and tasks that a dispatch has queued. Receipts from before the step have 0. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('receipts', (table) => {
    for (const name of counts) table.integer(name).notNullable().defaultTo(0)
  })
}

export async function down(db: Knex): Promise<void> {
  await db.schema.alterTable('receipts', (table) => table.dropColumns(...counts))
}
