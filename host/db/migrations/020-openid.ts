import type { Knex } from 'knex'

/** People of an OpenID provider, who are accounts. Accounts so far have none. */
export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('openid_subjects', (table) => {
    table.text('issuer').notNullable()
    // The claim `sub`.
    table.text('subject').notNullable()
    table.text('account_id').notNullable().references('accounts.id').onDelete('CASCADE').unique()
    // True: the provider made the account, and sets its memberships at each sign-in.
    table.boolean('sets_roles').notNullable()
    table.bigInteger('created_at').notNullable()
    table.bigInteger('last_used_at')
    table.primary(['issuer', 'subject'])
  })
}

export async function down(db: Knex): Promise<void> {
  await db.schema.dropTable('openid_subjects')
}
