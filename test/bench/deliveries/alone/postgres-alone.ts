import pg from 'pg'
import type { AloneStore } from './store-alone.ts'
import { answer, requestHeaders, tables } from './tables.ts'

const rowsOf = (columns: string) => `jsonb_to_recordset($1::jsonb) as given(${columns})`

const insertBodies = `insert into bodies select "eventId", min(body) from ${rowsOf('"eventId" text, body text')}
  group by "eventId" on conflict do nothing`
const insertDeliveries = `insert into deliveries select "deliveryId", "eventId", url, 'pending', null
  from ${rowsOf('"deliveryId" text, "eventId" text, url text')}`
const insertAttempts = `insert into attempts
  select id, "deliveryId", status, "startedAt", "durationMs", $2, $3
  from ${rowsOf('id text, "deliveryId" text, status integer, "startedAt" bigint, "durationMs" integer')}`
const settle = `update deliveries set state = 'delivered', settled_at = given."startedAt" + given."durationMs"
  from ${rowsOf('"deliveryId" text, "startedAt" bigint, "durationMs" integer')} where deliveries.id = given."deliveryId"`

export async function openPostgresAlone(url: string): Promise<AloneStore> {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  await pool.query(tables)
  const { rows } = await pool.query('show server_version')
  const client = await pool.connect()
  const prepared = (name: string, text: string, values: unknown[]) => client.query({ name, text, values })
  return {
    about: `PostgreSQL ${rows[0].server_version.split(' ')[0]}, in groups, prepared statements`,
    async commit(owed, ended) {
      await client.query('begin')
      if (owed.length > 0) {
        await prepared('bodies', insertBodies, [JSON.stringify(owed, ['eventId', 'body'])])
        await prepared('pending', insertDeliveries, [JSON.stringify(owed, ['deliveryId', 'eventId', 'url'])])
      }
      if (ended.length > 0) {
        const given = JSON.stringify(ended)
        await prepared('attempts', insertAttempts, [given, requestHeaders, answer])
        await prepared('settled', settle, [given])
      }
      await client.query('commit')
    },
    close: async () => {
      client.release()
      await pool.end()
    },
  }
}
