import type { Knex } from 'knex'

/** The holder of the token that made a link, and their name then. A flow from before, or without a link, has none. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('oauth_flows', (table) => {
    table.text('maker_kind')
    table.text('maker_id')
    table.text('maker')
  })
}

export async function down(db: Knex): Promise<void> {
  await db.schema.alterTable('oauth_flows', (table) => {
    table.dropColumns('maker_kind', 'maker_id', 'maker')
  })
}
