import type { Knex } from 'knex'

/** Where visitors read a site, as spaces have it. Null: at the first origin of its pages, or nowhere. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('sites', (table) => {
    table.text('url')
  })
}

export async function down(db: Knex): Promise<void> {
  await db.schema.alterTable('sites', (table) => {
    table.dropColumn('url')
  })
}
