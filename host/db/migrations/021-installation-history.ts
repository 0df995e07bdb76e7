import type { Knex } from 'knex'

/** How often the scripts of an installation have used its permissions, by UTC day, and how the status of each level has changed. */
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
  await db.schema.createTable('status_changes', (table) => {
    table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
    table.text('kind').notNullable()
    table.text('place_id').notNullable()
    // Counts the changes of a level. Two hosts that note the same change get the same number.
    table.integer('number').notNullable()
    // Null: the level was installed.
    table.text('from_status')
    table.text('to_status').notNullable()
    table.text('why').notNullable()
    table.text('reason')
    table.text('actor_kind').notNullable()
    table.text('actor_id')
    table.text('request_id')
    table.text('event_id')
    table.integer('version')
    table.bigInteger('at').notNullable()
    table.primary(['installation_id', 'kind', 'place_id', 'number'])
  })
  // The levels that are there begin with their status of now.
  await db.raw(
    `insert into status_changes (installation_id, kind, place_id, number, to_status, why, actor_kind, at)
     select installation_id, kind, place_id, 1,
       case when kind = 'account' then coalesce(hold, levels.status) else levels.status end, 'recorded', 'system', ?
     from levels join installations on installations.id = installation_id`,
    [Date.now()],
  )
}

export async function down(db: Knex): Promise<void> {
  await db.schema.dropTable('status_changes')
  await db.schema.alterTable('installations', (table) => table.dropColumn('uses_counted_since'))
  await db.schema.dropTable('permission_uses')
}
