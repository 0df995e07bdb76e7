import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { inSpan, inSpanOfIds, type Span } from '../page.ts'
import { openJson, sealJson } from '../sealed-json.ts'

/** The cause of a change. `id`: a member, a token, or the installation or integration of a script. */
export type Actor = { kind: 'person' | 'token' | 'script' | 'system'; id: string | null }

/** A change, with its subject before and after it. */
export type AuditRow = {
  id: string
  /** Null: a change of Annex as a whole. */
  organizationId: string | null
  actorKind: Actor['kind']
  actorId: string | null
  action: string
  subjectKind: string
  subjectId: string
  /** Null: the subject was or is not there. */
  before: object | null
  after: object | null
  requestId: string | null
  address: string | null
  createdAt: number
}

export async function insertAudit(transaction: Db, row: Omit<AuditRow, 'id' | 'createdAt'>): Promise<void> {
  const toText = (value: object | null) => (value === null ? null : sealJson(transaction, value))
  const texts = { before: toText(row.before), after: toText(row.after) }
  await transaction('audit').insert({ id: createId('aud'), ...row, ...texts, createdAt: Date.now() })
}

const unreadable = { unreadable: 'It was encrypted with another SECRET_KEY.' }

export type AuditFilter = Span & {
  organizationId?: string
  action?: string
  subjectId?: string
  actorId?: string
}

/** The newest first. `before`: the id of an entry, where the page begins. */
export async function listAudit(
  db: Db,
  {
    before,
    limit,
    sinceMs,
    untilMs,
    ...filter
  }: AuditFilter & { before?: string | undefined; limit: number },
): Promise<AuditRow[]> {
  const query = db('audit').where(filter).orderBy('id', 'desc').limit(limit)
  inSpanOfIds(query, 'id', 'aud', { sinceMs, untilMs })
  inSpan(query, 'createdAt', { sinceMs, untilMs })
  const rows = await (before === undefined ? query : query.where('id', '<', before))
  const toObject = (text: string | null) => (text === null ? null : (openJson(db, text) ?? unreadable))
  return rows.map((row) => ({ ...row, before: toObject(row.before), after: toObject(row.after) }))
}

/** Removes entries from before a time. Ids are in the order of time. */
export async function deleteOldAudit(db: Db, before: string): Promise<void> {
  await db('audit').where('id', '<', before).delete()
}
