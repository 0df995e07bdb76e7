import type { Db } from '../db.ts'
import { lenientJson, rawRows } from '../sql.ts'

export type StoredView = { id: string; payload: string; receivedAt: number }

/** A view in the order of time. */
export type ViewCursor = Pick<StoredView, 'id' | 'receivedAt'>

/** The newest stored views of a site before a cursor. */
export async function listSiteViews(
  db: Db,
  siteId: string,
  { before, limit }: { before: ViewCursor | undefined; limit: number },
): Promise<StoredView[]> {
  const query = db('events')
    .where({ siteId, type: 'site_view' })
    .orderBy([
      { column: 'receivedAt', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(limit)
    .select('id', 'payload', 'receivedAt')
  if (before !== undefined) {
    query.whereRaw('(received_at, id) < (?, ?)', [before.receivedAt, before.id])
  }
  return query
}

export type ViewCount = { key: string | number; views: number; visitors: number }

/** Views and visitors of a site between two times in Unix ms, by day since 1970 or by address. */
export async function countSiteViews(
  db: Db,
  siteId: string,
  { by, from, to, limit }: { by: 'day' | 'url'; from: number; to: number; limit: number },
): Promise<ViewCount[]> {
  const payload = lenientJson(db, 'payload')
  const key = by === 'day' ? 'received_at / 86400000' : `${payload} ->> 'url'`
  const rows = await rawRows<ViewCount>(
    db,
    `select ${key} as key, count(*) as views, count(distinct ${payload} -> 'visitor' ->> 'anonymousId') as visitors
     from events
     where site_id = ? and type = 'site_view' and received_at >= ? and received_at < ?
     group by 1 order by ${by === 'day' ? '1' : '2 desc, 1'} limit ?`,
    [siteId, from, to, limit],
  )
  return rows.map(({ key, views, visitors }) => ({ key, views: Number(views), visitors: Number(visitors) }))
}
