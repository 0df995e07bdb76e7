import type { Knex } from 'knex'
import { isPostgres } from '../sql.ts'

/** Events and the queue. */
export async function addWork(db: Knex): Promise<void> {
  await db.schema
    .createTable('events', (table) => {
      table.text('id').notNullable()
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('type').notNullable()
      // Also in the payload. Views and feedback are found by it.
      table.text('site_id')
      table.text('payload').notNullable()
      table.bigInteger('received_at').notNullable().index()
      table.primary(['organization_id', 'id'])
    })
    .createTable('jobs', (table) => {
      table.text('id').primary()
      table.text('kind').notNullable()
      // JSON by kind: an event with its level, a task, or the id of a delivery.
      table.text('subject').notNullable()
      // `lane`: an installation or a receiver. Jobs of a lane share a limit. `owner`: the installation.
      table.text('lane').notNullable()
      table.text('owner').notNullable()
      // Bytes of text that the job keeps in memory.
      table.integer('size').notNullable()
      table.text('state').notNullable()
      table.integer('attempt').notNullable()
      table.integer('interruptions').notNullable().defaultTo(0)
      table.boolean('ordered').notNullable()
      table.bigInteger('position').notNullable()
      table.bigInteger('due_at').notNullable()
      table.text('host_id')
      table.text('lease_id')
      table.bigInteger('lease_until')
      table.bigInteger('claimed_at')
      table.text('last_error')
      table.bigInteger('created_at').notNullable()
      table.bigInteger('finished_at')
    })
  await db.raw(
    'create index events_of_site on events (site_id, type, received_at, id) where site_id is not null',
  )
  // Partial indexes: finished and waiting jobs do not slow a claim down.
  await db.raw(
    `create index jobs_due_by_lane on jobs (kind, lane, ordered, (attempt > 0), due_at) where state = 'due'`,
  )
  await db.raw(`create index jobs_due on jobs (kind, due_at, id) where state = 'due' and kind <> 'delivery'`)
  await db.raw(`create index jobs_later on jobs (kind, due_at) where state = 'due' and due_at > created_at`)
  await db.raw('create index jobs_in_order on jobs (lane, position) where ordered')
  await db.raw(`create index jobs_leased on jobs (lease_until) where state = 'running'`)
  await db.raw(`create index jobs_waiting on jobs (lane, position) where state = 'waiting'`)
  await db.raw(
    `create index jobs_waiting_by_due on jobs (kind, due_at, id) where state = 'waiting' and kind <> 'delivery'`,
  )
  await db.raw(`create index jobs_waiting_events on jobs (id) where state = 'waiting' and kind = 'event'`)
  await db.raw(`create index jobs_failed on jobs (kind, id) where state = 'failed'`)
  await db.raw(`create index jobs_backlog on jobs (owner, size) where kind = 'delivery'`)
}

/**
 * Deliveries and attempts have no foreign keys: thousands of rows come each second. Their parents exist when they are stored,
 * and the queries that delete a parent delete them.
 */
export async function addDeliveries(db: Knex): Promise<void> {
  await db.schema
    .createTable('receivers', (table) => {
      table.text('id').primary()
      table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
      // The level whose secret signs: `installation`, `site:ID` or `space:ID`.
      table.text('signed_by').notNullable()
      table.text('url').notNullable()
      table.text('state').notNullable()
      table.text('reason')
      table.bigInteger('failing_since')
      table.boolean('ordered').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('updated_at').notNullable()
      table.unique(['installation_id', 'signed_by', 'url'])
      table.index(['state', 'id'])
      table.index(['installation_id', 'id'])
    })
    // The deliveries of an event share a body.
    .createTable('bodies', (table) => {
      table.text('id').primary()
      table.text('body').notNullable()
    })
    .createTable('deliveries', (table) => {
      table.text('id').primary()
      table.text('event_id').notNullable()
      table.text('event_type').notNullable()
      table.text('installation_id').notNullable()
      table.text('receiver_id').notNullable()
      table.text('body_id').notNullable()
      table.text('signed_by').notNullable()
      table.text('url').notNullable()
      // The number of scripts that led to it. A limit ends loops over events.
      table.integer('hops').notNullable()
      table.text('state').notNullable()
      table.text('reason')
      table.integer('attempts').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('finished_at')
      // For a delivery that failed without an attempt: its place in the live feed.
      table.text('refused_id')
      table.index(['installation_id', 'id'])
    })
    .createTable('attempts', (table) => {
      table.text('id').primary()
      table.text('delivery_id').notNullable()
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
      table.text('timing')
      table.unique(['delivery_id', 'number'])
    })
    .createTable('delivery_counts', (table) => {
      table.text('receiver_id').notNullable().references('receivers.id').onDelete('CASCADE')
      // The day in UTC.
      table.bigInteger('day').notNullable()
      table.bigInteger('delivered').notNullable()
      table.bigInteger('failed').notNullable()
      table.bigInteger('attempts').notNullable()
      table.primary(['receiver_id', 'day'])
    })
  // The deliveries of an event lie beside each other: a commit writes one page of this index for them.
  await db.raw(
    'create unique index deliveries_event_id_receiver_id_unique on deliveries (event_id, receiver_id)',
  )
  // A successful attempt changes no indexed column: otherwise PostgreSQL would write the row into all indexes again.
  await db.raw('create index deliveries_failed on deliveries (id) where reason is not null')
  await db.raw('create index deliveries_refused on deliveries (refused_id) where refused_id is not null')
  if (isPostgres(db)) await db.raw('alter table deliveries set (fillfactor = 60)')
}
