import type { Knex } from 'knex'

/** What happened, what is owed because of it, every try at it, and what scripts said meanwhile. */
export async function up(db: Knex): Promise<void> {
  await db.schema
    .createTable('events', (table) => {
      table.text('id').notNullable()
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('type').notNullable()
      table.text('payload').notNullable()
      table.bigInteger('received_at').notNullable()
      table.primary(['organization_id', 'id'])
    })
    .createTable('jobs', (table) => {
      table.text('id').primary()
      table.text('kind').notNullable()
      // What the job is about, for its kind to read: an event's delivery, a dispatch, a task.
      table.text('subject').notNullable()
      // Jobs of one lane take turns with those of the others: an installation, or a receiver.
      table.text('lane').notNullable()
      table.text('state').notNullable()
      table.integer('attempt').notNullable()
      table.bigInteger('due_at').notNullable()
      table.text('lease_id')
      table.bigInteger('lease_until')
      table.text('last_error')
      table.bigInteger('created_at').notNullable()
      table.bigInteger('finished_at')
    })
    .createTable('deliveries', (table) => {
      table.text('id').primary()
      table.text('event_id').notNullable()
      table.text('event_type').notNullable()
      table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
      // Whose secret signs: `installation`, `site:ID` or `space:ID`.
      table.text('signed_by').notNullable()
      table.text('url').notNullable()
      table.text('body').notNullable()
      // Through how many scripts it came about: ends loops over events.
      table.integer('hops').notNullable()
      table.text('state').notNullable()
      table.text('reason')
      table.integer('attempts').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('finished_at')
      table.unique(['installation_id', 'event_id', 'url', 'signed_by'])
      table.index(['installation_id', 'created_at'])
    })
    .createTable('attempts', (table) => {
      table.text('id').primary()
      table.text('delivery_id').notNullable().references('deliveries.id').onDelete('CASCADE')
      table.integer('number').notNullable()
      table.bigInteger('started_at').notNullable()
      table.integer('duration_ms').notNullable()
      table.text('outcome').notNullable()
      table.integer('status')
      table.text('request_headers').notNullable()
      table.text('response_headers')
      table.text('response_body')
      table.text('error_code')
      table.text('error_message')
      table.unique(['delivery_id', 'number'])
    })
    .createTable('logs', (table) => {
      table.bigIncrements('id')
      table.bigInteger('at').notNullable()
      table.text('integration').notNullable()
      table.text('installation_id')
      table.text('request_id')
      table.text('level').notNullable()
      table.text('text').notNullable()
      table.index(['request_id'])
      table.index(['integration', 'id'])
    })
  // Only what is owed is looked for again and again; finished work may pile up without slowing that down.
  await db.raw(`create index jobs_owed on jobs (due_at) where state = 'due'`)
  await db.raw(`create index jobs_owed_by_lane on jobs (lane, kind) where state = 'due'`)
  await db.raw(`create index jobs_leased on jobs (lease_until) where state = 'running'`)
}

export async function down(db: Knex): Promise<void> {
  for (const name of ['logs', 'attempts', 'deliveries', 'jobs', 'events']) await db.schema.dropTable(name)
}
