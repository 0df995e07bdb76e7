import type { Knex } from 'knex'

/** What dispatches have used, one by one and in sums; and who is suspended, by what, and until when jobs wait. */
export async function up(db: Knex): Promise<void> {
  await db.schema
    .createTable('receipts', (table) => {
      table.bigIncrements('id')
      // The installation, or the integration where a dispatch was for none: each keeps its newest.
      table.text('owner').notNullable()
      table.text('integration').notNullable()
      table.text('installation_id')
      table.text('request_id').notNullable()
      table.text('type').notNullable()
      table.bigInteger('started_at').notNullable()
      table.double('cpu_ms').notNullable()
      table.double('wall_ms').notNullable()
      table.bigInteger('heap_bytes').notNullable()
      table.integer('egress_calls').notNullable()
      table.bigInteger('egress_bytes').notNullable()
      table.integer('host_calls').notNullable()
      table.text('outcome').notNullable()
      table.integer('status')
      table.index(['owner', 'id'])
      table.index(['integration', 'id'])
      table.index(['request_id'])
    })
    .createTable('usage', (table) => {
      table.text('owner').notNullable()
      // The minute, in Unix ms.
      table.bigInteger('minute').notNullable()
      table.text('integration').notNullable()
      table.text('installation_id')
      table.bigInteger('dispatches').notNullable()
      table.bigInteger('failed').notNullable()
      table.double('cpu_ms').notNullable()
      table.double('wall_ms').notNullable()
      table.bigInteger('egress_calls').notNullable()
      table.bigInteger('egress_bytes').notNullable()
      table.bigInteger('host_calls').notNullable()
      table.bigInteger('max_heap_bytes').notNullable()
      table.primary(['owner', 'minute'])
      table.index(['minute'])
      table.index(['integration', 'minute'])
    })
    .alterTable('installations', (table) => {
      table.bigInteger('suspended_at')
      // Of the version that was suspended: another one begins without a record.
      table.text('suspended_digest')
      // The status that a resume gives back.
      table.text('suspended_from')
    })
    .alterTable('integrations', (table) => {
      table.bigInteger('suspended_at')
      table.text('suspended_digest')
      table.text('suspended_reason')
    })
  await db.raw(`create index jobs_waiting on jobs (lane) where state = 'waiting'`)
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index jobs_waiting')
  await db.raw(`update jobs set state = 'due' where state = 'waiting'`)
  await db.schema
    .alterTable('integrations', (table) => {
      table.dropColumns('suspended_at', 'suspended_digest', 'suspended_reason')
    })
    .alterTable('installations', (table) => {
      table.dropColumns('suspended_at', 'suspended_digest', 'suspended_from')
    })
    .dropTable('usage')
    .dropTable('receipts')
}
