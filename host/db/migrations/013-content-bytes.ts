import type { Knex } from 'knex'

/** The bytes of the pages that the kept revisions of a space have. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('spaces', (table) => {
    table.bigInteger('content_bytes').notNullable().defaultTo(0)
  })
  const isPostgres = db.client.dialect === 'postgresql'
  const bytes = ['path', 'title', 'description', 'markdown', 'document'].map((name) =>
    isPostgres ? `coalesce(octet_length(${name}), 0)` : `coalesce(length(cast(${name} as blob)), 0)`,
  )
  const sum = `select coalesce(sum(100 + ${bytes.join(' + ')}), 0) from pages where pages.space_id = spaces.id`
  await db.raw(`update spaces set content_bytes = (${sum})`)
}

export async function down(db: Knex): Promise<void> {
  // Knex would make the table anew, which other tables refer to.
  await db.raw('alter table spaces drop column content_bytes')
}
