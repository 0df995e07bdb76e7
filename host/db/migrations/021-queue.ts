import type { Knex } from 'knex'

/** Fairness chooses jobs by owner and size. Hosts keep leases, and no list of hosts. */
export async function up(db: Knex): Promise<void> {
  await db.schema
    .alterTable('jobs', (table) => {
      table.text('owner').notNullable().defaultTo('')
      table.integer('size').notNullable().defaultTo(0)
    })
    .dropTable('hosts')
  await db.raw(
    'update jobs set owner = coalesce((select installation_id from endpoints where endpoints.id = jobs.lane), lane)',
  )
  await db.raw('drop index jobs_due_by_lane')
  await db.raw(
    `create index jobs_due_by_lane on jobs (kind, lane, ordered, (attempt > 0), due_at) where state = 'due'`,
  )
  await db.raw('drop index jobs_later')
  await db.raw(`create index jobs_later on jobs (kind, due_at) where state = 'due' and due_at > created_at`)
  await db.raw(`create index jobs_backlog on jobs (owner, size) where kind = 'delivery'`)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index jobs_backlog')
  await db.raw('drop index jobs_due_by_lane')
  await db.raw(`create index jobs_due_by_lane on jobs (kind, lane, ordered, due_at) where state = 'due'`)
  await db.schema
    .alterTable('jobs', (table) => {
      table.dropColumns('owner', 'size')
    })
    .createTable('hosts', (table) => {
      table.text('id').primary()
      table.text('place').notNullable()
      table.text('version').notNullable()
      table.bigInteger('started_at').notNullable()
      table.bigInteger('seen_at').notNullable()
    })
}
