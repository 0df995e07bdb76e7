import type { Knex } from 'knex'
import { toLowerName } from '../any-case.ts'
import { toFoundFields } from '../found-fields.ts'

/** What integrations are found by: their names in any letter case, the texts and categories of their deployed versions. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('integrations', (table) => {
    // Not unique: earlier builds compared the names of folders alone, so there may be two spellings.
    table.text('lower_name').notNullable().defaultTo('').index()
    table.text('search_text').notNullable().defaultTo('')
    // JSON.
    table.text('categories').notNullable().defaultTo('[]')
  })
  const integrations = await db('integrations')
    .leftJoin('versions', 'versions.id', 'integrations.versionId')
    .select('name', 'manifest')
  for (const { name, manifest } of integrations) {
    const found = { lowerName: toLowerName(name), ...toFoundFields(name, manifest ?? undefined) }
    await db('integrations').where({ name }).update(found)
  }
}

export async function down(db: Knex): Promise<void> {
  await db.schema.alterTable('integrations', (table) => {
    table.dropIndex('lower_name')
    table.dropColumns('lower_name', 'search_text', 'categories')
  })
}
