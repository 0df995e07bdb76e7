import type { Knex } from 'knex'
import { addIntegrations } from './integration-tables.ts'
import { addPlaces } from './place-tables.ts'
import { addDeliveries, addWork } from './work-tables.ts'

/** Times are Unix ms unless a comment says otherwise. JSON columns are text: PostgreSQL's jsonb rejects U+0000. */
export async function up(db: Knex): Promise<void> {
  await addPlaces(db)
  await addIntegrations(db)
  await addWork(db)
  await addDeliveries(db)
  await addObservations(db)
}

export async function down(db: Knex): Promise<void> {
  const names = [
    ...[
      'audit',
      'usage',
      'receipts',
      'logs',
      'attempts',
      'delivery_counts',
      'deliveries',
      'bodies',
      'receivers',
      'jobs',
    ],
    ...['stored_values', 'stores'],
    ...[
      'events',
      'grants',
      'oauth_flows',
      'level_external_ids',
      'installation_targets',
      'installations',
      'version_images',
      'versions',
      'integrations',
      'key_checks',
      'tokens',
      'members',
    ],
    ...['external_ids', 'pages', 'revisions', 'spaces', 'sites', 'organizations'],
  ]
  for (const name of names) await db.schema.dropTable(name)
}

/** Changes, log lines, receipts of dispatches, and their sums by the minute. */
async function addObservations(db: Knex): Promise<void> {
  await db.schema
    .createTable('audit', (table) => {
      table.text('id').primary()
      // Null: a change of Annex as a whole.
      table.text('organization_id')
      table.text('actor_kind').notNullable()
      table.text('actor_id')
      table.text('action').notNullable()
      table.text('subject_kind').notNullable()
      table.text('subject_id').notNullable()
      // Sealed, as they hold settings.
      table.text('before')
      table.text('after')
      table.text('request_id')
      table.text('address')
      table.bigInteger('created_at').notNullable()
      table.index(['organization_id', 'id'])
      table.index(['subject_id', 'id'])
    })
    .createTable('logs', (table) => {
      table.bigIncrements('id')
      table.bigInteger('at').notNullable()
      table.text('integration').notNullable()
      table.text('installation_id')
      table.text('request_id').index()
      table.text('level').notNullable()
      table.text('text').notNullable()
      table.index(['integration', 'id'])
      table.index(['installation_id', 'id'])
    })
    .createTable('receipts', (table) => {
      table.bigIncrements('id')
      table.text('owner').notNullable()
      table.text('integration').notNullable()
      table.text('installation_id')
      table.text('request_id').notNullable().index()
      table.text('type').notNullable()
      table.bigInteger('started_at').notNullable()
      table.double('cpu_ms').notNullable()
      table.double('wall_ms').notNullable()
      table.bigInteger('heap_bytes').notNullable()
      table.integer('egress_calls').notNullable()
      table.bigInteger('egress_bytes').notNullable()
      table.integer('host_calls').notNullable()
      table.text('outcome').notNullable()
      table.integer('status')
      table.text('event_id')
      table.index(['owner', 'id'])
      table.index(['integration', 'id'])
    })
    .createTable('usage', (table) => {
      table.text('owner').notNullable()
      table.bigInteger('minute').notNullable()
      table.text('integration').notNullable()
      table.text('installation_id')
      table.bigInteger('dispatches').notNullable()
      table.bigInteger('failed').notNullable()
      table.double('cpu_ms').notNullable()
      table.double('wall_ms').notNullable()
      table.bigInteger('egress_calls').notNullable()
      table.bigInteger('egress_bytes').notNullable()
      table.bigInteger('host_calls').notNullable()
      table.bigInteger('max_heap_bytes').notNullable()
      table.primary(['owner', 'minute'])
      table.index(['minute'])
      table.index(['integration', 'minute'])
    })
  await db.raw('create index receipts_of_event on receipts (event_id) where event_id is not null')
}
