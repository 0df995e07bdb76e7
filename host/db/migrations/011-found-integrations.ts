import type { Knex } from 'knex'
import { toFoundFields } from '../found-fields.ts'

/** What a list finds integrations by: their names in any case, the texts and categories of their deployed versions. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('integrations', (table) => {
    table.text('search_text').notNullable().defaultTo('')
    // JSON.
    table.text('categories').notNullable().defaultTo('[]')
  })
  await db.raw('create index integrations_any_case on integrations (lower(name))')
  const integrations = await db('integrations')
    .leftJoin('versions', 'versions.id', 'integrations.versionId')
    .select('name', 'manifest')
  for (const { name, manifest } of integrations)
    await db('integrations')
      .where({ name })
      .update(toFoundFields(name, manifest ?? undefined))
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index integrations_any_case')
  await db.schema.alterTable('integrations', (table) => table.dropColumns('search_text', 'categories'))
}
