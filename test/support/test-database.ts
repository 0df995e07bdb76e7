import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { openDatabase } from '../../host/db/open-database.ts'
import { buildsFolder } from './kept-builds.ts'

export type TestDatabase = { url: string; drop: () => Promise<void> }

/** The PostgreSQL to run on: `make test` sets it for files whose header names PostgreSQL. Empty: SQLite. */
const server = process.env.DATABASE_URL_TEST ?? ''
/** The migrated database of a run of the tests, which the runner drops. */
const template = process.env.TEST_TEMPLATE_DATABASE

/** For `skip`: why a test does not run that needs PostgreSQL. */
export const noPostgres: string | false = server === '' && 'on PostgreSQL alone: DATABASE_URL_TEST names none'

/**
 * A database of a test's own, with all tables where a copy is cheaper than a migration. SQLite in the data folder, unless
 * `DATABASE_URL_TEST` names a PostgreSQL.
 *
 * @param dataDir a new data folder: on SQLite it gets a migrated file
 */
export async function createTestDatabase(dataDir?: string): Promise<TestDatabase> {
  if (server !== '') return create(template)
  if (dataDir !== undefined) {
    mkdirSync(dataDir, { recursive: true })
    copyFileSync(await fileTemplate(), join(dataDir, 'annex.sqlite'))
  }
  return { url: '', drop: async () => {} }
}

/** A database without tables, for tests of migrations, copies and first starts. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return server === '' ? { url: '', drop: async () => {} } : create(undefined)
}

async function create(from: string | undefined): Promise<TestDatabase> {
  const name = `annex_${randomUUID().replaceAll('-', '')}`
  await connected(server, async (client) => {
    if (from === undefined) return void (await client.query(`create database ${name}`))
    isTemplateThere ??= makeTemplate(client, from)
    await isTemplateThere
    await client.query(`create database ${name} template ${from} ${await strategyOf(client)}`)
  })
  const drop = () => connected(server, (client) => client.query(`drop database ${name} with (force)`))
  return { url: addressOf(name), drop: async () => void (await drop()) }
}

let isTemplateThere: Promise<void> | undefined

/** Makes the run's template unless another process has. PostgreSQL frees the lock with the connection. */
async function makeTemplate(client: pg.Client, name: string): Promise<void> {
  await client.query('select pg_advisory_lock(hashtext($1))', [name])
  const { rows } = await client.query('select 1 from pg_database where datname = $1', [name])
  if (rows.length > 0) return void (await client.query('select pg_advisory_unlock_all()'))
  // A half-made one never has the name that others look for. One may be left by a process that was killed.
  await client.query(`drop database if exists ${name}_new with (force)`)
  await client.query(`create database ${name}_new`)
  const { close } = await openDatabase(addressOf(`${name}_new`), buildsFolder)
  await close()
  await client.query(`alter database ${name}_new rename to ${name}`)
  await client.query('select pg_advisory_unlock_all()')
}

/** PostgreSQL 15 and later log each page of a copy unless they are told to copy the files. */
async function strategyOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query('show server_version_num')
  return Number(rows[0].server_version_num) >= 150_000 ? 'strategy file_copy' : ''
}

/** The migrated file of this run. */
async function fileTemplate(): Promise<string> {
  const file = join(buildsFolder, 'template.sqlite')
  if (existsSync(file)) return file
  const folder = mkdtempSync(join(buildsFolder, 'template-'))
  const { close } = await openDatabase('', folder)
  await close()
  if (existsSync(join(folder, 'annex.sqlite-wal'))) throw new Error('the template is still in its log')
  renameSync(join(folder, 'annex.sqlite'), file)
  rmSync(folder, { recursive: true })
  return file
}

function addressOf(name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function connected<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}
