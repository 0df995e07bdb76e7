import { randomUUID } from 'node:crypto'
import pg from 'pg'

export type TestDatabase = { url: string; drop: () => Promise<void> }

/** The PostgreSQL to run on: `make test` sets it for files whose header names PostgreSQL. Empty: SQLite. */
const server = process.env.DATABASE_URL_TEST ?? ''

/** For `skip`: why a test does not run that needs PostgreSQL. */
export const noPostgres: string | false = server === '' && 'on PostgreSQL alone: DATABASE_URL_TEST names none'

/**
 * A database of a test's own. SQLite in the data folder, unless `DATABASE_URL_TEST` names a PostgreSQL, where one is
 * made, and dropped at the end.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  if (server === '') return { url: '', drop: async () => {} }
  const name = `annex_${randomUUID().replaceAll('-', '')}`
  await query(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => query(server, `drop database ${name} with (force)`) }
}

async function query(server: string, sql: string): Promise<void> {
  const client = new pg.Client(server)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
