import type { Knex } from 'knex'

/** The hosts that share this database, that they have the same key, and whose folder an integration is from. */
export async function up(db: Knex): Promise<void> {
  await db.schema
    .createTable('hosts', (table) => {
      table.text('id').primary()
      // The data folder that it owns, on its machine: no two hosts that run have the same.
      table.text('place').notNullable()
      table.text('version').notNullable()
      table.bigInteger('started_at').notNullable()
      table.bigInteger('seen_at').notNullable()
    })
    .createTable('key_checks', (table) => {
      table.text('purpose').primary()
      table.text('sealed').notNullable()
    })
    .alterTable('integrations', (table) => {
      // The place of the host that has loaded it last.
      table.text('loaded_by')
    })
}

export async function down(db: Knex): Promise<void> {
  await db.schema
    .alterTable('integrations', (table) => {
      table.dropColumn('loaded_by')
    })
    .dropTable('key_checks')
    .dropTable('hosts')
}
