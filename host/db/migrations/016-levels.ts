import type { Knex } from 'knex'

/**
 * Settings and signing secrets of accounts, sites and spaces go into one table. A pause or a suspension is a hold of the
 * installation: its account keeps the status that it had.
 */
export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('levels', (table) => {
    table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
    // `account`, `site` or `space`.
    table.text('kind').notNullable()
    // The site or space. Empty for an account.
    table.text('place_id').notNullable()
    // `pending` or `active`.
    table.text('status').notNullable()
    table.text('status_reason')
    // Sealed.
    table.text('configuration').notNullable()
    // JSON by setting. Sealed: the label of its value, and its connection with a provider.
    table.text('setting_details').notNullable().defaultTo('{}')
    table.text('external_ids').notNullable()
    table.text('signing_secret').notNullable()
    table.text('previous_signing_secret')
    table.bigInteger('previous_secret_until')
    table.text('first_secret')
    table.bigInteger('created_at').notNullable()
    table.bigInteger('updated_at').notNullable()
    table.bigInteger('removing_at')
    table.primary(['installation_id', 'kind', 'place_id'])
    table.index(['kind', 'place_id'])
  })
  await db.schema.alterTable('installations', (table) => {
    // `paused` or `suspended`.
    table.text('hold')
    table.text('hold_reason')
  })
  const [, , ...others] = shared
  const rest = others.join(', ')
  await db.raw(`insert into levels (installation_id, kind, place_id, removing_at, status, status_reason, ${rest})
    select id, 'account', '', removing_at,
      case status when 'suspended' then coalesce(suspended_from, 'active') when 'paused' then 'active' else status end,
      case when status in ('paused', 'suspended') then null else status_reason end, ${rest}
    from installations where removed_at is null`)
  await db.raw(`insert into levels (installation_id, kind, place_id, removing_at, status, status_reason, ${rest})
    select installation_id, kind, target_id, removing_at, status, status_reason, ${rest} from installation_targets`)
  await db.raw(`update installations set hold = status, hold_reason = status_reason
    where status in ('paused', 'suspended')`)
  await db.schema.dropTable('installation_targets')
  await db.raw('drop index installations_ending')
  await db.raw('drop index installations_status_removing_at_created_at_index')
  const moved = shared.filter((column) => column !== 'created_at')
  for (const column of [...moved, 'suspended_from']) {
    await db.raw(`alter table installations drop column ${column}`)
  }
  await db.raw(`create index levels_ending on levels (updated_at) where ${hasEnding}`)
  await db.raw(
    `create index levels_pending on levels (installation_id) where kind = 'account' and status = 'pending'`,
  )
  await db.raw('create index installations_hold on installations (hold, created_at) where hold is not null')
}

export async function down(db: Knex): Promise<void> {
  await db.schema.createTable('installation_targets', (table) => {
    table.text('installation_id').notNullable().references('installations.id').onDelete('CASCADE')
    table.text('kind').notNullable()
    table.text('target_id').notNullable()
    addShared(table)
    table.bigInteger('created_at').notNullable()
    table.bigInteger('updated_at').notNullable()
    table.bigInteger('removing_at')
    table.primary(['installation_id', 'kind', 'target_id'])
    table.index(['kind', 'target_id'])
  })
  const others = `removing_at, ${shared.join(', ')}`
  await db.raw(`insert into installation_targets (installation_id, kind, target_id, ${others})
    select installation_id, kind, place_id, ${others} from levels where kind <> 'account'`)
  await db.schema.alterTable('installations', (table) => {
    addShared(table)
    table.bigInteger('updated_at').notNullable().defaultTo(0)
    table.text('suspended_from')
  })
  const account = (column: string) =>
    `(select ${column} from levels where installation_id = installations.id and kind = 'account')`
  // An installation that has been removed has no account any more.
  const back = shared.map((column) => `${column} = coalesce(${account(column)}, ${column})`).join(', ')
  await db.raw(`update installations set ${back}`)
  await db.raw(`update installations set status = hold, status_reason = hold_reason,
    suspended_from = case hold when 'suspended' then status end where hold is not null`)
  for (const index of ['levels_ending', 'levels_pending', 'installations_hold'])
    await db.raw(`drop index ${index}`)
  await db.schema.dropTable('levels')
  for (const column of ['hold', 'hold_reason'])
    await db.raw(`alter table installations drop column ${column}`)
  await db.raw(`create index installations_ending on installations (updated_at) where ${hasEnding}`)
  await db.raw(
    `create index installation_targets_ending on installation_targets (updated_at) where ${hasEnding}`,
  )
  await db.raw(`create index installations_status_removing_at_created_at_index
    on installations (status, removing_at, created_at)`)
}

/** The columns that an account, a site and a space have. */
const shared = [
  'status',
  'status_reason',
  'configuration',
  'setting_details',
  'external_ids',
  'signing_secret',
  'previous_signing_secret',
  'previous_secret_until',
  'first_secret',
  'created_at',
  'updated_at',
]

/** For the way back. The tables of the version before had no defaults. */
function addShared(table: Knex.CreateTableBuilder): void {
  table.text('status').notNullable().defaultTo('pending')
  table.text('status_reason')
  table.text('configuration').notNullable().defaultTo('{}')
  table.text('setting_details').notNullable().defaultTo('{}')
  table.text('external_ids').notNullable().defaultTo('[]')
  table.text('signing_secret').notNullable().defaultTo('')
  table.text('previous_signing_secret')
  table.bigInteger('previous_secret_until')
  table.text('first_secret')
}

const hasEnding = `(setting_details like '%"error":%' or setting_details like '%"endsAt":%')`
