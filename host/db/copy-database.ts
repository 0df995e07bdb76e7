import { AnnexError, messageOf } from '../errors.ts'
import type { Db, Dialect, JobKind } from './db.ts'
import { assertCurrent, migrate, stepsHad } from './migrate.ts'
import { applicationName } from './open-database.ts'
import { endClaims } from './queries/claims.ts'
import { isPostgres, rawRows, toSnakeCase } from './sql.ts'

export type CopiedTable = { table: string; rows: number }

export type Progress = CopiedTable & { copied: number }

type Table = { name: string; key: readonly string[] }

/** Every table with its primary key. A table comes after the tables that its foreign keys refer to. */
export const copiedTables: readonly Table[] = [
  { name: 'organizations', key: ['id'] },
  { name: 'externalIds', key: ['kind', 'externalId', 'owner'] },
  { name: 'accounts', key: ['id'] },
  { name: 'members', key: ['id'] },
  { name: 'tokens', key: ['id'] },
  { name: 'passkeys', key: ['id'] },
  { name: 'openidSubjects', key: ['issuer', 'subject'] },
  { name: 'sessions', key: ['id'] },
  { name: 'oneTimeLinks', key: ['hash'] },
  { name: 'usedChallenges', key: ['hash'] },
  { name: 'spaces', key: ['id'] },
  { name: 'revisions', key: ['id'] },
  { name: 'pages', key: ['spaceId', 'id', 'fromRevision'] },
  { name: 'sites', key: ['id'] },
  { name: 'integrations', key: ['name'] },
  { name: 'versions', key: ['id'] },
  { name: 'installLinks', key: ['id'] },
  { name: 'versionImages', key: ['versionId', 'name'] },
  { name: 'installations', key: ['id'] },
  { name: 'levels', key: ['installationId', 'kind', 'placeId'] },
  { name: 'levelExternalIds', key: ['integration', 'kind', 'externalId', 'installationId', 'targetId'] },
  { name: 'grants', key: ['id'] },
  { name: 'permissionUses', key: ['installationId', 'scope', 'day'] },
  { name: 'statusChanges', key: ['installationId', 'kind', 'placeId', 'number'] },
  { name: 'stores', key: ['level'] },
  { name: 'storedValues', key: ['level', 'key'] },
  { name: 'oauthFlows', key: ['id'] },
  { name: 'events', key: ['organizationId', 'id'] },
  { name: 'receivers', key: ['id'] },
  { name: 'deliveryCounts', key: ['receiverId', 'day'] },
  { name: 'bodies', key: ['id'] },
  { name: 'deliveries', key: ['id'] },
  { name: 'attempts', key: ['id'] },
  { name: 'jobs', key: ['id'] },
  { name: 'logs', key: ['id'] },
  { name: 'receipts', key: ['id'] },
  { name: 'usage', key: ['owner', 'minute'] },
  { name: 'activity', key: ['owner', 'stepMs', 'startMs'] },
  { name: 'audit', key: ['id'] },
  { name: 'keyChecks', key: ['purpose'] },
]

/** Tables whose ids the database counts. */
const numbered: readonly string[] = ['logs', 'receipts']

const jobKinds: readonly JobKind[] = ['event', 'task', 'delivery']

/** Checks the source, and changes nothing in it. @throws AnnexError `conflict`, `schema_newer` */
export async function prepareSource(db: Db): Promise<void> {
  await assertStopped(db)
  await assertCurrent(db)
}

/** Creates the tables of the destination if it has none, and checks that they are empty. @throws AnnexError `conflict`, `schema_newer` */
export async function prepareDestination(db: Db, dialect: Dialect): Promise<void> {
  await assertStopped(db)
  if ((await stepsHad(db)) === undefined) await migrate(db, dialect)
  await assertCurrent(db)
  for (const { name } of copiedTables) {
    if ((await countRows(db, name)) > 0)
      throw new AnnexError(
        'conflict',
        `A copy needs an empty database. This one has rows in the table ${toSnakeCase(name)}.`,
      )
  }
}

/** For PostgreSQL. The lock of the data folder protects a SQLite file. Any other session is a host's, as this process has one. */
async function assertStopped(db: Db): Promise<void> {
  if (!isPostgres(db)) return
  const [row] = await rawRows<{ count: number }>(
    db,
    `select count(*) as count from pg_stat_activity
     where datname = current_database() and application_name = ? and pid <> pg_backend_pid()`,
    [applicationName],
  )
  if (Number(row?.count) === 0) return
  throw new AnnexError('conflict', 'An Annex is connected to the database. Stop it, and copy again.')
}

/**
 * Copies all rows into an empty database, in one transaction. Both databases have been prepared.
 *
 * @throws AnnexError `conflict` when a row cannot be copied. The destination is empty then.
 */
export async function copyDatabase(
  from: Db,
  to: Db,
  onProgress: (progress: Progress) => void,
): Promise<CopiedTable[]> {
  const oneMoment = isPostgres(from) ? ({ isolationLevel: 'repeatable read' } as const) : {}
  return from.transaction(async (source) => {
    await assertReferences('FROM', source)
    return to.transaction(async (destination) => {
      const copied: CopiedTable[] = []
      for (const table of copiedTables) copied.push(await copyTable(source, destination, table, onProgress))
      await endClaims(destination, jobKinds, 'all')
      await continueNumbers(destination)
      await assertCounts(destination, copied)
      await assertReferences('TO', destination)
      return copied
    })
  }, oneMoment)
}

async function copyTable(
  source: Db,
  destination: Db,
  { name, key }: Table,
  onProgress: (progress: Progress) => void,
): Promise<CopiedTable> {
  const table = toSnakeCase(name)
  const rows = await countRows(source, name)
  const columns = Object.entries(await destination(name).columnInfo())
  const texts = columns.flatMap(([column, { type }]) => (type === 'text' ? [column] : []))
  let copied = 0
  for await (const page of readPages(source, { name, key, texts })) {
    for (const row of page) assertKept(destination, table, key, row)
    try {
      await destination(name).insert(page)
    } catch (cause) {
      // Knex puts the whole statement before the reason.
      const reason = messageOf(cause).split(' - ').at(-1)
      const ids = `${idOf(key, page[0])} to ${idOf(key, page.at(-1))}`
      throw refused(`TO: ${table}: the rows ${ids} cannot be stored (${reason}).`, cause)
    }
    copied += page.length
    onProgress({ table, rows, copied })
  }
  return { table, rows }
}

type Row = Record<string, unknown>

/** PostgreSQL has no U+0000 in a text, and the drivers round whole numbers above 2^53. */
function assertKept(destination: Db, table: string, key: readonly string[], row: Row): void {
  for (const [column, value] of Object.entries(row)) {
    const where = () => `FROM: ${table} ${idOf(key, row)}: ${toSnakeCase(column)}`
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw refused(`${where()} is above 2^53, and would be rounded. Change or delete the row.`)
    }
    if (isPostgres(destination) && typeof value === 'string' && value.includes('\0')) {
      throw refused(`${where()} has U+0000, which PostgreSQL does not keep. Change or delete the row.`)
    }
  }
}

const idOf = (key: readonly string[], row: Row | undefined): string =>
  key.map((column) => String(row?.[column])).join(' ')

/** This error rolls the transaction back. */
const refused = (text: string, cause?: unknown): AnnexError =>
  new AnnexError('conflict', `${text} Nothing was copied.`, { cause })

/** SQLite counts on from the largest id. PostgreSQL would begin with 1. */
async function continueNumbers(destination: Db): Promise<void> {
  if (!isPostgres(destination)) return
  for (const table of numbered) {
    await destination.raw(`select setval(pg_get_serial_sequence('${table}', 'id'), max(id)) from ${table}`)
  }
}

async function assertCounts(destination: Db, copied: readonly CopiedTable[]): Promise<void> {
  for (const { table, rows } of copied) {
    const stored = await countRows(destination, table)
    if (stored !== rows) throw refused(`${table}: FROM has ${rows} rows, and TO has ${stored}.`)
  }
}

type Broken = { table: string; rowid: number; parent: string; count: number }

/** SQLite keeps rows that were stored while its foreign keys were off. PostgreSQL has no such rows. */
async function assertReferences(role: string, db: Db): Promise<void> {
  if (isPostgres(db)) return
  const [first] = await rawRows<Broken>(
    db,
    'select "table", rowid, parent, count(*) over () as count from pragma_foreign_key_check limit 1',
    [],
  )
  if (first === undefined) return
  const { table, rowid, parent, count } = first
  const key = copiedTables.find(({ name }) => toSnakeCase(name) === table)?.key ?? []
  const row: Row | undefined = await db(table).whereRaw('rowid = ?', [rowid]).first()
  throw refused(
    `${role}: ${table} ${idOf(key, row)} refers to a row of ${parent} that is not there (foreign keys that are broken: ` +
      `${count}). Repair or delete such rows.`,
  )
}

async function countRows(db: Db, name: string): Promise<number> {
  const row = await db(name).count({ count: '*' }).first()
  return Number(row?.count)
}

/** An insert of SQLite takes 500 rows at most. */
const pageRows = 400
const pageBytes = 8 * 1024 * 1024

/**
 * Reads all rows of a table in the order of its key, some at a time: rows up to 8 MiB of text, or one larger row.
 *
 * @param table.texts the columns that may be long
 */
export async function* readPages(
  db: Db,
  table: { name: string; key: readonly string[]; texts: readonly string[] },
): AsyncGenerator<Row[]> {
  const { name, key, texts } = table
  const tuple = (mark: string) => `(${key.map(() => mark).join()})`
  const keyOf = (row: Row) => key.map((column) => row[column]) as string[]
  const between = (sign: '>' | '<=', row: Row) =>
    db.raw(`${tuple('??')} ${sign} ${tuple('?')}`, [...key, ...keyOf(row)])
  // Both databases know the length of a text without reading it.
  const bytes = texts.map(() => 'coalesce(octet_length(??), 0)').join(' + ')
  let after: Row | undefined
  for (;;) {
    const sizes = db(name)
      .select(...key, db.raw(`${bytes} as bytes`, texts as string[]))
      .orderBy([...key])
      .limit(pageRows)
    if (after !== undefined) sizes.where(between('>', after))
    const last = lastFitting(await sizes)
    if (last === undefined) return
    const page = db(name)
      .where(between('<=', last))
      .orderBy([...key])
    if (after !== undefined) page.where(between('>', after))
    yield await page
    after = last
  }
}

/** The last row that fits into a page. The first row always fits. */
function lastFitting(rows: readonly (Row & { bytes: number | string })[]): Row | undefined {
  let left = pageBytes
  let last = rows[0]
  for (const row of rows) {
    left -= Number(row.bytes)
    if (left < 0) break
    last = row
  }
  return last
}
