import { hash } from 'node:crypto'
import type { Knex } from 'knex'
import { createId } from '../ids.ts'

/** Install links with hashes of their keys. The key that each integration had so far becomes its first link. */
export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('install_links', (table) => {
    table.text('id').notNullable().primary()
    table.text('integration').notNullable().references('integrations.name').onDelete('CASCADE')
    table.text('hash').notNullable()
    table.text('label').notNullable()
    table.bigInteger('created_at').notNullable()
    table.unique(['integration', 'hash'])
  })
  const integrations = await db('integrations').orderBy('name').select('name', 'installKey', 'createdAt')
  for (const { name, installKey, createdAt } of integrations) {
    const link = { id: createId('lnk'), integration: name, label: 'before links had labels', createdAt }
    await db('installLinks').insert({ ...link, hash: hash('sha256', installKey) })
  }
  await db.raw('alter table integrations drop column install_key')
}

export async function down(db: Knex): Promise<void> {
  // The keys are lost.
  await db.raw(`alter table integrations add column install_key text not null default ''`)
  await db.schema.dropTable('install_links')
}
