import type { Knex } from 'knex'
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
      'installation_targets',
      'installations',
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

/** Organizations with their sites, spaces, members and tokens. */
async function addPlaces(db: Knex): Promise<void> {
  await db.schema
    .createTable('organizations', (table) => {
      table.text('id').primary()
      table.text('subdomain').notNullable().unique()
      table.text('title').notNullable()
      table.bigInteger('created_at').notNullable()
    })
    .createTable('sites', (table) => {
      table.text('id').primary()
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('slug').notNullable()
      table.text('title').notNullable()
      table.text('visibility').notNullable().defaultTo('private')
      // Public: the script of a page sends it. It names no other site's stream.
      table.text('public_key').notNullable().unique()
      // Origins of its pages, and the schema of visitors' claims: JSON.
      table.text('origins').notNullable().defaultTo('[]')
      table.text('adaptive_schema')
      table.bigInteger('created_at').notNullable()
      table.unique(['organization_id', 'slug'])
    })
    .createTable('spaces', (table) => {
      table.text('id').primary()
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('slug').notNullable()
      table.text('title').notNullable()
      table.text('visibility').notNullable().defaultTo('private')
      table.text('url')
      // Null: pages come through the API.
      table.text('folder')
      table.text('revision_id')
      // Files of the folder that are left out: JSON.
      table.text('problems').notNullable().defaultTo('[]')
      // The host that writes the next revision, and until when other hosts wait for it.
      table.text('drafted_by')
      table.bigInteger('drafted_until')
      table.bigInteger('created_at').notNullable()
      table.unique(['organization_id', 'slug'])
    })
    .createTable('revisions', (table) => {
      table.text('id').primary()
      table.text('space_id').notNullable().references('spaces.id')
      table.integer('number').notNullable()
      table.text('author_type').notNullable()
      table.text('author_id').notNullable()
      table.bigInteger('created_at').notNullable()
      table.unique(['space_id', 'number'])
    })
    // A row holds from one revision of its space up to another, by their numbers. Null: to the newest one.
    .createTable('pages', (table) => {
      table.text('space_id').notNullable().references('spaces.id')
      table.text('id').notNullable()
      table.integer('from_revision').notNullable()
      table.integer('to_revision')
      table.text('kind').notNullable()
      table.text('path').notNullable()
      table.text('parent_id')
      // The order of all pages of a revision, each before the pages below it.
      table.double('position').notNullable()
      table.text('title').notNullable()
      table.text('description')
      table.text('digest').notNullable()
      table.text('markdown')
      table.text('document')
      table.primary(['space_id', 'id', 'from_revision'])
      table.index(['space_id', 'from_revision'])
      table.index(['space_id', 'to_revision'])
      table.index(['space_id', 'path'])
    })
    // Ids of other platforms. `owner` is the organization of a site or space, and empty for organizations.
    .createTable('external_ids', (table) => {
      table.text('kind').notNullable()
      table.text('owner').notNullable()
      table.text('external_id').notNullable()
      table.text('record_id').notNullable()
      table.primary(['kind', 'external_id', 'owner'])
      table.index(['record_id'])
    })
    .createTable('members', (table) => {
      table.text('id').primary()
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('email').notNullable()
      table.text('name').notNullable()
      table.text('role').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('updated_at').notNullable()
      table.unique(['organization_id', 'email'])
    })
    .createTable('tokens', (table) => {
      table.text('id').primary()
      table.text('hash').notNullable().unique()
      table.text('kind').notNullable()
      table.text('role')
      table.text('organization_id').references('organizations.id').index()
      table.text('member_id').references('members.id').onDelete('CASCADE').index()
      table.text('label').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('expires_at')
      table.bigInteger('last_used_at')
    })
    // A sealed text for each key. A host that cannot open it has another key, and does not start.
    .createTable('key_checks', (table) => {
      table.text('purpose').primary()
      table.text('sealed').notNullable()
    })
}

async function addIntegrations(db: Knex): Promise<void> {
  await db.schema
    .createTable('integrations', (table) => {
      table.text('name').primary()
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('folder').notNullable()
      // The deployed version. Null: it is out of service.
      table.text('version_id')
      // The version of its folder, which a rollback does not change.
      table.text('loaded_version_id')
      // A rollback: loading the folder deploys nothing until it is unpinned.
      table.bigInteger('pinned_at')
      table.text('install_key').notNullable()
      table.text('signing_secret').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('suspended_at')
      table.text('suspended_digest')
      table.text('suspended_reason')
      // The data folder of the host that loaded it last, by `hostIdentity`.
      table.text('loaded_by')
    })
    .createTable('versions', (table) => {
      table.text('id').primary()
      table.text('integration').notNullable().references('integrations.name')
      table.integer('number').notNullable()
      table.text('digest').notNullable()
      table.text('manifest').notNullable()
      table.text('code').notNullable()
      table.text('source_map').notNullable()
      table.bigInteger('created_at').notNullable()
      table.unique(['integration', 'number'])
      table.unique(['integration', 'digest'])
    })
    .createTable('installations', (table) => {
      table.text('id').primary()
      table.text('integration').notNullable().references('integrations.name')
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('status').notNullable()
      table.text('status_reason')
      table.text('configuration').notNullable()
      table.text('external_ids').notNullable()
      // Whether it is in all spaces and sites, or in those that people selected.
      table.text('space_selection').notNullable().defaultTo('selected')
      table.text('site_selection').notNullable().defaultTo('selected')
      table.text('signing_secret').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('updated_at').notNullable()
      table.bigInteger('suspended_at')
      table.text('suspended_digest')
      table.text('suspended_from')
      table.text('previous_signing_secret')
      table.bigInteger('previous_secret_until')
      table.text('first_secret')
      // The version that it goes on with, until its organization agrees to a newer one. Null: the deployed version.
      table.text('held_version_id')
      // An uninstall has begun: only its last event sees it. `removed_at`: that is done; history still refers to the row.
      table.bigInteger('removing_at')
      table.bigInteger('removed_at')
      // JSON by setting: the label of its value, and its connection with a provider.
      table.text('setting_details').notNullable().defaultTo('{}')
    })
    // Site and space installations.
    .createTable('installation_targets', (table) => {
      table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
      table.text('kind').notNullable()
      table.text('target_id').notNullable()
      table.text('status').notNullable()
      table.text('status_reason')
      table.text('configuration').notNullable()
      table.text('external_ids').notNullable()
      table.text('signing_secret').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('updated_at').notNullable()
      table.text('previous_signing_secret')
      table.bigInteger('previous_secret_until')
      table.text('first_secret')
      table.bigInteger('removing_at')
      table.text('setting_details').notNullable().defaultTo('{}')
      table.primary(['installation_id', 'kind', 'target_id'])
      table.index(['kind', 'target_id'])
    })
  // Connections with providers, from their start to their callback. Links, browsers and states are hashes.
  await db.schema.createTable('oauth_flows', (table) => {
    table.text('id').primary()
    table.text('integration').notNullable()
    table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
    // The endpoint of the level, and the path below it at which the flow begins.
    table.text('endpoint').notNullable()
    table.text('path').notNullable()
    table.text('link_hash').unique()
    table.text('browser_hash')
    table.text('state_hash').unique()
    // The script's own state, sealed.
    table.text('script_state')
    // The path of the redirect address, where it is one of this Annex.
    table.text('callback')
    table.bigInteger('expires_at').notNullable().index()
    table.bigInteger('used_at')
    table.index(['integration', 'callback'])
  })
  // What an organization has agreed to. The last grant of an installation holds.
  await db.schema.createTable('grants', (table) => {
    table.text('id').primary()
    table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
    table.integer('version').notNullable()
    table.text('permissions').notNullable()
    table.text('actor_kind').notNullable()
    table.text('actor_id')
    table.bigInteger('created_at').notNullable()
    table.index(['installation_id', 'id'])
  })
  // What scripts have stored for a level, by the path of its endpoint.
  await db.schema
    .createTable('stores', (table) => {
      table.text('level').primary()
      table.text('integration').notNullable().references('integrations.name').onDelete('CASCADE')
      table.text('installation_id').references('installations.id').onDelete('CASCADE').index()
      table.text('target_kind')
      table.text('target_id')
      table.bigInteger('bytes').notNullable()
      table.bigInteger('keys').notNullable()
      table.bigInteger('version').notNullable()
    })
    .createTable('stored_values', (table) => {
      table.text('level').notNullable().references('stores.level').onDelete('CASCADE')
      table.text('key').notNullable()
      table.text('value').notNullable()
      table.bigInteger('bytes').notNullable()
      table.bigInteger('version').notNullable()
      table.bigInteger('expires_at').index()
      table.primary(['level', 'key'])
      table.index(['level', 'expires_at'])
    })
  await db.raw('create unique index integrations_lower_name on integrations (lower(name))')
  await db.raw(
    'create unique index installations_installed on installations (integration, organization_id) where removing_at is null',
  )
}

/** Changes, log lines, receipts of dispatches, and their sums by the minute. */
async function addObservations(db: Knex): Promise<void> {
  await db.schema
    .createTable('audit', (table) => {
      table.text('id').primary()
      // Null: a change of Annex as a whole.
      table.text('organization_id').index()
      table.text('actor_kind').notNullable()
      table.text('actor_id')
      table.text('action').notNullable()
      table.text('subject_kind').notNullable()
      table.text('subject_id').notNullable()
      table.text('before')
      table.text('after')
      table.text('request_id')
      table.text('address')
      table.bigInteger('created_at').notNullable()
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
