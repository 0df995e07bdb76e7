import type { Knex } from 'knex'

/**
 * What deliveries send, once for those of an event: an attempt changes its delivery's row, and what is as large as a
 * body is not to be written again with it. And the jobs that come due later by themselves: a delivery that is due when it
 * is owed needs no place among them.
 */
export async function up(db: Knex): Promise<void> {
  await db.schema
    .createTable('bodies', (table) => {
      table.text('id').primary()
      table.text('body').notNullable()
    })
    .alterTable('deliveries', (table) => {
      table.text('body_id').notNullable().defaultTo('')
    })
  await db.raw(`insert into bodies (id, body) select 'body_' || substr(id, 5), body from deliveries`)
  await db.raw(`update deliveries set body_id = 'body_' || substr(id, 5)`)
  // Knex's own way on SQLite makes the table anew, and with it goes whatever refers to it.
  await db.raw('alter table deliveries drop column body')
  await db.raw('create index deliveries_body_id on deliveries (body_id)')
  await db.raw('drop index jobs_due')
  await db.raw(`create index jobs_due on jobs (kind, due_at) where state = 'due' and kind <> 'delivery'`)
  await db.raw(
    `create index jobs_later on jobs (due_at) where state = 'due' and kind = 'delivery' and due_at > created_at`,
  )
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index jobs_later')
  await db.raw('drop index jobs_due')
  await db.raw(`create index jobs_due on jobs (kind, due_at) where state = 'due'`)
  await db.raw('drop index deliveries_body_id')
  await db.schema.alterTable('deliveries', (table) => {
    table.text('body').notNullable().defaultTo('')
  })
  await db.raw('update deliveries set body = (select body from bodies where bodies.id = deliveries.body_id)')
  await db.raw('alter table deliveries drop column body_id')
  await db.schema.dropTable('bodies')
}
