import type { Knex } from 'knex'

/** Names of the cookies that the pages of a site send with a view: a list as JSON text. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('sites', (table) => {
    table.text('view_cookies').notNullable().defaultTo('[]')
  })
}

export async function down(db: Knex): Promise<void> {
  await db.schema.alterTable('sites', (table) => table.dropColumn('view_cookies'))
}
