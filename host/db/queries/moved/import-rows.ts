import type { Db } from '../../db.ts'
import { type ForEachRow, forEachInserted } from '../../rows/each-row.ts'
import { type JsonColumns, rawRows } from '../../rows/json-rows.ts'
import { toSnakeCase } from '../../rows/naming.ts'

const secrets = {
  signingSecret: 'text',
  previousSigningSecret: 'text',
  previousSecretUntil: 'bigint',
  firstSecret: 'text',
} as const

const times = { createdAt: 'bigint', updatedAt: 'bigint' } as const

/** The tables that a moved installation is in, with the columns that come from its export. */
export const movedTables = {
  organizations: { id: 'text', subdomain: 'text', title: 'text', createdAt: 'bigint' },
  sites: { id: 'text', organizationId: 'text', slug: 'text', title: 'text', createdAt: 'bigint' },
  spaces: {
    ...{
      id: 'text',
      organizationId: 'text',
      slug: 'text',
      title: 'text',
      folder: 'text',
      createdAt: 'bigint',
    },
  },
  installations: {
    ...{ id: 'text', integration: 'text', organizationId: 'text' },
    ...{ status: 'text', statusReason: 'text', suspendedFrom: 'text' },
    ...{ configuration: 'text', externalIds: 'text', ...secrets, ...times },
  },
  installationTargets: {
    ...{ installationId: 'text', kind: 'text', targetId: 'text', status: 'text' },
    ...{ configuration: 'text', externalIds: 'text', ...secrets, ...times },
  },
  endpoints: {
    ...{ id: 'text', installationId: 'text', signedBy: 'text', url: 'text', state: 'text', reason: 'text' },
    ...{ failingSince: 'bigint', ordered: 'boolean', ...times },
  },
  deliveryCounts: {
    endpointId: 'text',
    day: 'bigint',
    delivered: 'bigint',
    failed: 'bigint',
    attempts: 'bigint',
  },
  events: { id: 'text', organizationId: 'text', type: 'text', payload: 'text', receivedAt: 'bigint' },
  bodies: { id: 'text', body: 'text' },
  deliveries: {
    ...{ id: 'text', eventId: 'text', eventType: 'text', installationId: 'text', endpointId: 'text' },
    ...{ signedBy: 'text', url: 'text', bodyId: 'text', hops: 'bigint', state: 'text', reason: 'text' },
    ...{ attempts: 'bigint', createdAt: 'bigint', finishedAt: 'bigint' },
  },
  attempts: {
    ...{ id: 'text', deliveryId: 'text', number: 'bigint', startedAt: 'bigint', durationMs: 'bigint' },
    ...{ outcome: 'text', status: 'bigint', requestHeaders: 'text', responseHeaders: 'text' },
    ...{ responseBody: 'text', errorCode: 'text', errorMessage: 'text', timing: 'text' },
  },
  jobs: {
    ...{ id: 'text', kind: 'text', subject: 'text', lane: 'text', state: 'text', attempt: 'bigint' },
    ...{ dueAt: 'bigint', lastError: 'text', createdAt: 'bigint', finishedAt: 'bigint' },
    ...{ ordered: 'boolean', position: 'bigint', interruptions: 'bigint' },
  },
} as const satisfies Record<string, JsonColumns>

export type MovedTable = keyof typeof movedTables

/** A row with all of a table's columns. */
export type MovedRow<Table extends MovedTable> = Record<
  keyof (typeof movedTables)[Table],
  string | number | boolean | null
>

/** What tells the rows of a table from each other, where it is not their id alone. */
const keys: Partial<Record<MovedTable, readonly string[]>> = {
  installationTargets: ['installationId', 'kind', 'targetId'],
  deliveryCounts: ['endpointId', 'day'],
  events: ['organizationId', 'id'],
}

const inserts = Object.fromEntries(
  Object.entries(movedTables).map(([table, columns]) => {
    const key = (keys[table as MovedTable] ?? ['id']) as readonly never[]
    const given = { table: toSnakeCase(table), columns, key }
    return [table, forEachInserted<object>(table === 'events' ? { ...given, unlessThere: key } : given)]
  }),
) as Record<MovedTable, ForEachRow<object>>

/**
 * Stores rows as they are. Of events those that are there already stay; any other row that is there already fails the
 * statement.
 */
export async function insertMoved<Table extends MovedTable>(
  transaction: Db,
  table: Table,
  rows: readonly MovedRow<Table>[],
): Promise<void> {
  await inserts[table](transaction, rows)
}

/** Whether a database error says that a row is there already. */
export const isDuplicate = (error: unknown): boolean => {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  return code === '23505' || (code === 'SQLITE_CONSTRAINT' && message.includes('UNIQUE'))
}

/** A job that waits for one of its endpoints, and is for no owed delivery to it: a delivery's has its id, but for the prefix. */
export async function findStrayJob(transaction: Db, installationId: string): Promise<string | undefined> {
  const [stray] = await rawRows<{ id: string }>(
    transaction,
    `select jobs.id from jobs join endpoints on endpoints.id = jobs.lane
     where endpoints.installation_id = ? and jobs.state = 'waiting' and not exists (
       select 1 from deliveries where id = 'dlv' || substr(jobs.id, 4) and endpoint_id = jobs.lane and state = 'owed'
     ) limit 1`,
    [installationId],
  )
  return stray?.id
}

/** An owed delivery of its that nobody would send, as no job waits for it. */
export async function findJobless(transaction: Db, installationId: string): Promise<string | undefined> {
  const [jobless] = await rawRows<{ id: string }>(
    transaction,
    `select id from deliveries where installation_id = ? and state = 'owed' and not exists (
       select 1 from jobs where id = 'job' || substr(deliveries.id, 4) and lane = deliveries.endpoint_id and state = 'waiting'
     ) limit 1`,
    [installationId],
  )
  return jobless?.id
}
