import type { Knex } from 'knex'
import { isPostgres } from '../sql.ts'

/**
 * Deliveries and attempts come by the thousand a second, so no row of theirs looks for what it belongs to any more: that is
 * there when they are stored, and what deletes it deletes them.
 *
 * The deliveries of an event lie beside each other in the index by which one that is owed twice is found, so that a commit
 * writes one page of it for all of them. The same index finds those that have a body in common.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw('drop index deliveries_body_id')
  if (isPostgres(db)) {
    await db.raw('alter table deliveries drop constraint deliveries_endpoint_id_event_id_unique')
    for (const [table, column] of foreignKeys) {
      await db.raw(`alter table ${table} drop constraint ${table}_${column}_foreign`)
    }
  } else {
    await db.raw('drop index deliveries_endpoint_id_event_id_unique')
    // In this order: deleting deliveries would delete the attempts that refer to them.
    for (const table of ['attempts', 'deliveries']) {
      await makeAnew(db, table, (definition) => definition.replaceAll(foreignKey, ''))
    }
  }
  await db.raw(
    'create unique index deliveries_event_id_endpoint_id_unique on deliveries (event_id, endpoint_id)',
  )
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index deliveries_event_id_endpoint_id_unique')
  for (const [table, column, parents] of foreignKeys.toReversed()) {
    const constraint = `foreign key (${column}) references ${parents} (id) on delete cascade`
    await db.raw(`delete from ${table} where ${column} not in (select id from ${parents})`)
    if (isPostgres(db))
      await db.raw(`alter table ${table} add constraint ${table}_${column}_foreign ${constraint}`)
    else await makeAnew(db, table, (definition) => definition.replace(/\)$/, `, ${constraint})`))
  }
  const unique = 'deliveries_endpoint_id_event_id_unique'
  if (isPostgres(db))
    await db.raw(`alter table deliveries add constraint ${unique} unique (endpoint_id, event_id)`)
  else await db.raw(`create unique index ${unique} on deliveries (endpoint_id, event_id)`)
  await db.raw('create index deliveries_body_id on deliveries (body_id)')
}

const foreignKeys = [
  ['attempts', 'delivery_id', 'deliveries'],
  ['deliveries', 'installation_id', 'installations'],
  ['deliveries', 'endpoint_id', 'endpoints'],
] as const

/** As SQLite has kept them: in the text that the table was made with. */
const foreignKey = /,\s*foreign key\s*\([^)]+\)\s*references\s*\S+?\s*\([^)]+\)\s*on delete cascade/gi

/** SQLite changes no foreign key of a table that is there. */
async function makeAnew(db: Knex, table: string, change: (definition: string) => string): Promise<void> {
  const [{ sql: definition }] = await db.raw(
    `select sql from sqlite_schema where type = 'table' and name = ?`,
    [table],
  )
  const indexes = await db.raw(
    `select sql from sqlite_schema where type = 'index' and tbl_name = ? and sql is not null`,
    [table],
  )
  const anew = `${table}_anew`
  await db.raw(change(definition).replace(table, anew))
  await db.raw('insert into ?? select * from ??', [anew, table])
  await db.raw('drop table ??', [table])
  await db.raw('alter table ?? rename to ??', [anew, table])
  for (const { sql } of indexes) await db.raw(sql)
}
