import type { Knex } from 'knex'

/** How often the scripts of an installation have used its permissions, by UTC day. */
export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('permission_uses', (table) => {
    table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
    table.text('scope').notNullable()
    table.bigInteger('day').notNullable().index()
    table.bigInteger('uses').notNullable()
    table.primary(['installation_id', 'scope', 'day'])
  })
  await db.schema.alterTable('installations', (table) => {
    // Null: since it was installed. The uses of older installations before this step are not known.
    table.bigInteger('uses_counted_since')
  })
  await db('installations').update({ usesCountedSince: Date.now() })
}

export async function down(db: Knex): Promise<void> {
  await db.schema.alterTable('installations', (table) => table.dropColumn('uses_counted_since'))
  await db.schema.dropTable('permission_uses')
}
