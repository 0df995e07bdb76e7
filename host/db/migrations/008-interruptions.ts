import type { Knex } from 'knex'

/** How often something other than the job itself has ended its run. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('jobs', (table) => {
    table.integer('interruptions').notNullable().defaultTo(0)
  })
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table ?? drop column ??', ['jobs', 'interruptions'])
}
