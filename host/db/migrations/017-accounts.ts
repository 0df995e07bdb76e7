import type { Knex } from 'knex'

/** People who sign in, with their passkeys, sessions and one-time links. Members so far have no account. */
export async function up(db: Knex): Promise<void> {
  await db.schema
    .createTable('accounts', (table) => {
      table.text('id').primary()
      table.text('email').notNullable().unique()
      table.text('name').notNullable()
      // A hash with its parameters. Null: the person signs in by a passkey.
      table.text('password')
      table.boolean('is_operator').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('updated_at').notNullable()
    })
    .createTable('passkeys', (table) => {
      table.text('id').primary()
      table.text('account_id').notNullable().references('accounts.id').onDelete('CASCADE').index()
      table.text('credential_id').notNullable().unique()
      table.text('public_key').notNullable()
      table.bigInteger('counter').notNullable()
      // JSON.
      table.text('transports').notNullable()
      // The host name that the passkey belongs to.
      table.text('host').notNullable()
      table.text('label').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('last_used_at')
    })
    .createTable('sessions', (table) => {
      table.text('id').primary()
      table.text('hash').notNullable().unique()
      table.text('account_id').notNullable().references('accounts.id').onDelete('CASCADE').index()
      table.text('method').notNullable()
      table.bigInteger('created_at').notNullable()
      table.bigInteger('last_used_at').notNullable()
      table.bigInteger('confirmed_at').notNullable()
      table.bigInteger('expires_at').notNullable().index()
      table.text('address')
      table.text('user_agent').notNullable()
    })
    // A member has at most one invitation, an account at most one reset.
    .createTable('one_time_links', (table) => {
      table.text('hash').primary()
      table.text('member_id').references('members.id').onDelete('CASCADE').unique()
      table.text('account_id').references('accounts.id').onDelete('CASCADE').unique()
      table.bigInteger('expires_at').notNullable().index()
    })
    .createTable('used_challenges', (table) => {
      table.text('hash').primary()
      table.bigInteger('expires_at').notNullable().index()
    })
  await db.raw('alter table members add column account_id text references accounts (id)')
  // An account has one membership in an organization.
  await db.raw('create unique index members_account on members (account_id, organization_id)')
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index members_account')
  await db.raw('alter table members drop column account_id')
  for (const table of ['used_challenges', 'one_time_links', 'sessions', 'passkeys', 'accounts']) {
    await db.schema.dropTable(table)
  }
}
