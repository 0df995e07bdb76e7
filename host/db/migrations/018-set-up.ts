import type { Knex } from 'knex'

const hasNoSetup = `not exists (select 1 from jobs where kind = 'event' and lane = `

/**
 * `pending` now says that a setup event is to be handled. Before, a level stayed it until its settings were confirmed; whether
 * they are complete is found out when its status is read.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(
    `update installations set status = 'active' where status = 'pending' and ${hasNoSetup} installations.id)`,
  )
  await db.raw(
    `update installations set suspended_from = 'active'
     where suspended_from = 'pending' and ${hasNoSetup} installations.id)`,
  )
  await db.raw(
    `update installation_targets set status = 'active'
     where status = 'pending' and ${hasNoSetup} installation_targets.installation_id)`,
  )
}

/** Before, a level that is active now was active too. */
export async function down(): Promise<void> {}
