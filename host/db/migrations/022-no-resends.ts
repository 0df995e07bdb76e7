import type { Knex } from 'knex'
import * as resends from './010-resends.ts'

/** Deliveries that are sent again have due times. No record and no job leads them. */
export async function up(db: Knex): Promise<void> {
  await db('jobs').where({ kind: 'resend' }).delete()
  await resends.down(db)
}

export const down = resends.up
