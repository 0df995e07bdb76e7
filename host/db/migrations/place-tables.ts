import type { Knex } from 'knex'

/** Organizations with their sites, spaces, members and tokens. */
export async function addPlaces(db: Knex): Promise<void> {
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
      table.index(['organization_id', 'id'])
      table.index(['slug'])
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
      table.index(['organization_id', 'id'])
      table.index(['slug'])
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
      table.index(['record_id', 'external_id'])
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
      table.index(['organization_id', 'id'])
    })
    .createTable('tokens', (table) => {
      table.text('id').primary()
      table.text('hash').notNullable().unique()
      table.text('kind').notNullable()
      table.text('role')
      table.text('organization_id').references('organizations.id')
      table.text('member_id').references('members.id').onDelete('CASCADE').index()
      table.text('label').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('expires_at')
      table.bigInteger('last_used_at')
      table.index(['organization_id', 'id'])
    })
    // A sealed text for each key. A host that cannot open it has another key, and does not start.
    .createTable('key_checks', (table) => {
      table.text('purpose').primary()
      table.text('sealed').notNullable()
    })
}
