import type { Db } from '../../db.ts'
import { isPostgres, rawRows } from '../../sql.ts'
import { nextBefore, type Place, type Pruned } from './prune.ts'

/** What the text of a row takes, in bytes. */
export type SizedRow = { place: Place; bytes: number }

const attemptText = ['request_headers', 'response_headers', 'response_body', 'error_message']
  .map((column) => `coalesce(octet_length(${column}), 0)`)
  .join(' + ')

/** How long the texts of a row are: both databases know that without reading them. */
const sizes: Readonly<Record<Pruned, readonly string[]>> = {
  deliveries: [
    `body_id, coalesce((select octet_length(body) from bodies where bodies.id = body_id), 0) as body_bytes`,
    `coalesce((select sum(${attemptText}) from attempts where attempts.delivery_id = deliveries.id), 0) as bytes`,
  ],
  events: ['octet_length(payload) as bytes'],
  jobs: ['octet_length(subject) as bytes'],
  waitingEvents: ['octet_length(subject) as bytes'],
}

type Read = SizedRow & { bodyId?: string; bodyBytes?: number }

/**
 * The next rows of a table before a place, the newest first, with how much text each is. A body that several deliveries have is of the
 * first of them.
 */
export async function readSizes(
  db: Db,
  table: Pruned,
  page: { before: Place | undefined; limit: number },
): Promise<SizedRow[]> {
  const rows: Read[] = await nextBefore(db, table, { ...page, more: sizes[table] })
  const counted = new Set<string>()
  return rows.map(({ place, bytes, bodyId, bodyBytes = 0 }) => {
    if (bodyId === undefined || counted.has(bodyId)) return { place, bytes }
    counted.add(bodyId)
    return { place, bytes: bytes + bodyBytes }
  })
}

/** How much of the disk the database has in use, in bytes: its history is no more. */
export async function readUsedBytes(db: Db): Promise<number> {
  const tables = `'deliveries', 'bodies', 'attempts', 'events', 'jobs'`
  const sql = isPostgres(db)
    ? `select sum(pg_total_relation_size(oid)) as used from pg_class
       where relname in (${tables}) and relnamespace = current_schema()::regnamespace`
    : `select (page_count - freelist_count) * page_size as used
       from pragma_page_count, pragma_freelist_count, pragma_page_size`
  const [row] = await rawRows<{ used: number }>(db, sql, [])
  return Number(row?.used ?? 0)
}
