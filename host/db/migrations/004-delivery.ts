import type { Knex } from 'knex'
import { createId } from '../ids.ts'

/**
 * Endpoints: where deliveries go, and how each does. `jobs` holds what is owed and nothing else: what came of it is
 * in `deliveries` and `attempts`, so that history may pile up without slowing down work.
 */
export async function up(db: Knex): Promise<void> {
  await db.schema
    .createTable('endpoints', (table) => {
      table.text('id').primary()
      table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
      // Whose secret signs: `installation`, `site:ID` or `space:ID`.
      table.text('signed_by').notNullable()
      table.text('url').notNullable()
      table.text('state').notNullable()
      table.text('reason')
      // Since when no attempt has been answered with 2xx; empty while all is well.
      table.bigInteger('failing_since')
      // One delivery after the other, in the order in which they were owed.
      table.boolean('ordered').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('updated_at').notNullable()
      table.unique(['installation_id', 'signed_by', 'url'])
    })
    .alterTable('deliveries', (table) => {
      table.text('endpoint_id').references('endpoints.id').onDelete('CASCADE')
    })
    .alterTable('attempts', (table) => {
      // The parts of its time, as JSON: `{ dnsMs, connectMs, tlsMs, firstByteMs }`.
      table.text('timing')
    })
    .alterTable('jobs', (table) => {
      // The host that runs it.
      table.text('host_id')
      table.bigInteger('claimed_at')
      table.boolean('ordered').notNullable().defaultTo(false)
      // Grows with each job of a host: ids of one millisecond are in no order.
      table.bigInteger('position').notNullable().defaultTo(0)
    })
  await giveEndpoints(db)
  await db('jobs').where({ state: 'done' }).orWhere({ state: 'failed', kind: 'delivery' }).delete()
  await db.schema.alterTable('deliveries', (table) => {
    table.dropUnique(['installation_id', 'event_id', 'url', 'signed_by'])
    table.dropIndex(['installation_id', 'created_at'])
    table.unique(['endpoint_id', 'event_id'])
    table.index(['installation_id', 'id'])
  })
  await db.raw('drop index jobs_owed')
  await db.raw('drop index jobs_owed_by_lane')
  await db.raw(`create index jobs_due on jobs (kind, due_at) where state = 'due'`)
  await db.raw(`create index jobs_due_by_lane on jobs (kind, lane, due_at) where state = 'due'`)
  await db.raw('create index jobs_in_order on jobs (lane, position) where ordered')
  await db.raw(`create index deliveries_failed on deliveries (id) where state = 'failed'`)
}

/** What is owed to an URL from before there were endpoints. */
async function giveEndpoints(db: Knex): Promise<void> {
  const now = Date.now()
  for (const key of await db('deliveries').distinct('installation_id', 'signed_by', 'url')) {
    const { installationId, signedBy, url } = key
    const id = createId('ep')
    const row = { id, installationId, signedBy, url, state: 'active', ordered: false }
    await db('endpoints').insert({ ...row, createdAt: now, updatedAt: now })
    const ofIt = db('deliveries').where({ installationId, signedBy, url })
    await ofIt.clone().update({ endpointId: id })
    const owed = await ofIt.clone().where({ state: 'owed' }).pluck('id')
    for (const delivery of owed) {
      await db('jobs')
        .where({ kind: 'delivery', subject: JSON.stringify({ id: delivery }) })
        .update({ lane: id })
    }
  }
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index deliveries_failed')
  await db.raw('drop index jobs_in_order')
  await db.raw('drop index jobs_due_by_lane')
  await db.raw('drop index jobs_due')
  await db.raw(`create index jobs_owed on jobs (due_at) where state = 'due'`)
  await db.raw(`create index jobs_owed_by_lane on jobs (lane, kind) where state = 'due'`)
  await db.schema
    .alterTable('deliveries', (table) => {
      table.dropUnique(['endpoint_id', 'event_id'])
      table.dropIndex(['installation_id', 'id'])
      table.unique(['installation_id', 'event_id', 'url', 'signed_by'])
      table.index(['installation_id', 'created_at'])
    })
    .alterTable('jobs', (table) => table.dropColumns('host_id', 'claimed_at', 'ordered', 'position'))
    .alterTable('attempts', (table) => table.dropColumns('timing'))
    .alterTable('deliveries', (table) => table.dropColumns('endpoint_id'))
    .dropTable('endpoints')
}
