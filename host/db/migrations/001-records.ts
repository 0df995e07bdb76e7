import type { Knex } from 'knex'

/** The platform's records, what integrations declare, and where they are installed. Times are Unix ms. */
export async function up(db: Knex): Promise<void> {
  await db.schema
    .createTable('organizations', (table) => {
      table.text('id').primary()
      table.text('subdomain').notNullable().unique()
      table.text('title').notNullable()
      table.bigInteger('created_at').notNullable()
    })
    .createTable('tokens', (table) => {
      table.text('id').primary()
      table.text('hash').notNullable().unique()
      table.text('kind').notNullable()
      table.text('organization_id').references('organizations.id')
      table.text('label').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('expires_at')
    })
    .createTable('spaces', (table) => {
      table.text('id').primary()
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('slug').notNullable()
      table.text('title').notNullable()
      table.text('folder').notNullable()
      table.text('revision_id')
      table.bigInteger('created_at').notNullable()
      table.unique(['organization_id', 'slug'])
    })
    .createTable('revisions', (table) => {
      table.text('id').primary()
      table.text('space_id').notNullable().references('spaces.id')
      table.text('digest').notNullable()
      table.text('pages').notNullable()
      table.bigInteger('created_at').notNullable()
    })
    .createTable('sites', (table) => {
      table.text('id').primary()
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('slug').notNullable()
      table.text('title').notNullable()
      table.bigInteger('created_at').notNullable()
      table.unique(['organization_id', 'slug'])
    })
    .createTable('integrations', (table) => {
      table.text('name').primary()
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('folder').notNullable()
      table.text('version_id')
      table.text('install_key').notNullable()
      table.text('signing_secret').notNullable()
      table.bigInteger('created_at').notNullable()
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
      table.unique(['integration', 'digest'])
      table.unique(['integration', 'number'])
    })
    .createTable('installations', (table) => {
      table.text('id').primary()
      table.text('integration').notNullable().references('integrations.name')
      table.text('organization_id').notNullable().references('organizations.id')
      table.text('status').notNullable()
      table.text('status_reason')
      table.text('configuration').notNullable()
      table.text('external_ids').notNullable()
      table.text('signing_secret').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('updated_at').notNullable()
      table.unique(['integration', 'organization_id'])
    })
    .createTable('installation_targets', (table) => {
      table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
      table.text('kind').notNullable()
      table.text('target_id').notNullable()
      table.text('status').notNullable()
      table.text('configuration').notNullable()
      table.text('external_ids').notNullable()
      table.text('signing_secret').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('updated_at').notNullable()
      table.primary(['installation_id', 'kind', 'target_id'])
      table.index(['kind', 'target_id'])
    })
}

export async function down(db: Knex): Promise<void> {
  for (const name of [
    'installation_targets',
    'installations',
    'versions',
    'integrations',
    'sites',
    'revisions',
    'spaces',
    'tokens',
    'organizations',
  ]) {
    await db.schema.dropTable(name)
  }
}
