import type { Knex } from 'knex'

/** The event types that a version handles, as it has said when it was tried: a list as JSON text. Null: not known. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('versions', (table) => {
    table.text('handled_events')
  })
}

export async function down(db: Knex): Promise<void> {
  await db.schema.alterTable('versions', (table) => table.dropColumn('handled_events'))
}
