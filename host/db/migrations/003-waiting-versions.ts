import type { Knex } from 'knex'

/** What a version that waits misses in an organization, and which script has stored a value for its whole integration. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('installations', (table) => {
    table.integer('missed_calls').notNullable().defaultTo(0)
  })
  await db.schema.alterTable('stored_values', (table) => {
    // Null: another level than the integration's, or a value from before this step.
    table.text('writer_version_id')
    // Null: the script ran for no installation.
    table.text('writer_installation_id')
  })
}

export async function down(db: Knex): Promise<void> {
  await db.schema.alterTable('stored_values', (table) =>
    table.dropColumns('writer_version_id', 'writer_installation_id'),
  )
  await db.schema.alterTable('installations', (table) => table.dropColumn('missed_calls'))
}
