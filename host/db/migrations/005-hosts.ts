import type { Knex } from 'knex'

/** The hosts that share this database. */
export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('hosts', (table) => {
    table.text('id').primary()
    // The data folder that it owns, on its machine: no two hosts that run have the same.
    table.text('place').notNullable()
    table.text('version').notNullable()
    table.bigInteger('started_at').notNullable()
    table.bigInteger('seen_at').notNullable()
  })
}

export async function down(db: Knex): Promise<void> {
  await db.schema.dropTable('hosts')
}
