import type { Knex } from 'knex'

const tables = ['installations', 'installation_targets'] as const

/**
 * The signing secret before the present one, which signs too until its time is over. Those of integrations have none: they
 * sign no delivery.
 */
export async function up(db: Knex): Promise<void> {
  for (const name of tables) {
    await db.schema.alterTable(name, (table) => {
      table.text('previous_signing_secret')
      table.bigInteger('previous_secret_until')
      // `old` or `new`: what a receiver reads that reads only one signature.
      table.text('first_secret')
    })
  }
}

export async function down(db: Knex): Promise<void> {
  for (const table of tables) {
    for (const column of ['previous_signing_secret', 'previous_secret_until', 'first_secret']) {
      // Knex's own way on SQLite makes the table anew, and with it goes whatever refers to it.
      await db.raw('alter table ?? drop column ??', [table, column])
    }
  }
}
