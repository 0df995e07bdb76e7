import type { Knex } from 'knex'

/** The installation whose script wrote a page. For pages of earlier versions it is found by the authors of their revisions. */
export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('pages', (table) => {
    table.text('written_by')
  })
  await db.raw(`
    update pages set written_by = (
      select case
        when count(distinct revisions.author_id) > 1 then 'several'
        else coalesce(max(installations.id), max(revisions.author_id))
      end
      from pages as earlier
      join spaces on spaces.id = earlier.space_id
      join revisions on revisions.space_id = earlier.space_id and revisions.number = earlier.from_revision
      left join installations on installations.integration = revisions.author_id
        and installations.organization_id = spaces.organization_id
      where earlier.space_id = pages.space_id and earlier.id = pages.id
        and earlier.from_revision <= pages.from_revision and revisions.author_type = 'integration'
    )`)
}

export async function down(db: Knex): Promise<void> {
  // Knex would make the table anew.
  await db.raw('alter table pages drop column written_by')
}
