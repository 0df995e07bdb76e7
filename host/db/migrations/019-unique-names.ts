import type { Knex } from 'knex'

/** Names of integrations are unique regardless of case. Names that are there in two spellings already stay as they are. */
export async function up(db: Knex): Promise<void> {
  const rows: { lower: string }[] = await db('integrations')
    .select(db.raw('lower(name) as lower'))
    .groupByRaw('lower(name)')
    .havingRaw('count(*) > 1')
  // An index takes no parameters. A name holds letters, digits and hyphens alone.
  const others = rows.map(({ lower }) => `'${lower}'`).join(', ')
  const where = rows.length === 0 ? '' : ` where lower(name) not in (${others})`
  await db.raw(`create unique index integrations_lower_name on integrations (lower(name))${where}`)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index integrations_lower_name')
}
