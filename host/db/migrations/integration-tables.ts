import type { Knex } from 'knex'

export async function addIntegrations(db: Knex): Promise<void> {
  await db.schema
    .createTable('integrations', (table) => {
      table.text('name').primary()
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('folder').notNullable()
      // The deployed version. Null: it is out of service.
      table.text('version_id')
      // Of the deployed version: lists read it without the manifest.
      table.text('visibility').notNullable().defaultTo('private')
      // The version of its folder, which a rollback does not change.
      table.text('loaded_version_id')
      // A rollback: loading the folder deploys this version until it is unpinned.
      table.text('pinned_version_id')
      table.text('install_key').notNullable()
      table.text('signing_secret').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('suspended_at')
      table.text('suspended_digest')
      table.text('suspended_reason')
      // The data folder of the host that loaded it last, by `hostIdentity`.
      table.text('loaded_by')
      table.index(['organization_id', 'name'])
      table.index(['visibility', 'name'])
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
    .createTable('version_images', (table) => {
      table.text('version_id').notNullable().references('versions.id').onDelete('CASCADE')
      table.text('name').notNullable()
      table.text('type').notNullable()
      table.text('digest').notNullable()
      // In base64.
      table.text('bytes').notNullable()
      table.primary(['version_id', 'name'])
    })
    .createTable('installations', (table) => {
      // Without `not null` SQLite would sort the sites and spaces of an installation for each page.
      table.text('id').notNullable().primary()
      table.text('integration').notNullable().references('integrations.name')
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('status').notNullable()
      table.text('status_reason')
      // Sealed.
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
      // JSON by setting. Sealed: the label of its value, and its connection with a provider.
      table.text('setting_details').notNullable().defaultTo('{}')
      table.index(['organization_id', 'id'])
      table.unique(['integration', 'id'])
      table.index(['status', 'removing_at', 'created_at'])
      table.index(['held_version_id'])
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
  // The external ids of levels: an integration finds a level by them. `target_id` is empty for an installation.
  await db.schema.createTable('level_external_ids', (table) => {
    table.text('integration').notNullable()
    table.text('kind').notNullable()
    table.text('external_id').notNullable()
    table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
    table.text('target_id').notNullable()
    table.primary(['integration', 'kind', 'external_id', 'installation_id', 'target_id'])
    table.index(['installation_id', 'kind', 'target_id'])
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
    table.index(['endpoint', 'path'])
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
  await db.raw('create index integrations_suspended on integrations (name) where suspended_at is not null')
  const hasEnding = `(setting_details like '%"error":%' or setting_details like '%"endsAt":%')`
  for (const table of ['installations', 'installation_targets']) {
    await db.raw(`create index ${table}_ending on ${table} (updated_at) where ${hasEnding}`)
  }
  await db.raw('create unique index integrations_lower_name on integrations (lower(name))')
  await db.raw(
    'create unique index installations_installed on installations (integration, organization_id) where removing_at is null',
  )
}
