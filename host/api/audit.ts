import { Readable } from 'node:stream'
import type { AuditEntry } from '../../schemas/generated/api/audit.ts'
import type { Db } from '../db/db.ts'
import { type AuditFilter, type AuditRow, listAudit } from '../db/queries/audit.ts'
import { ownerOf, type Person } from './caller.ts'
import { idCursor, listPage, retentionOf, spanOf, toIso } from './list-query.ts'
import type { OnOperation, OperationRequest } from './operations.ts'

type AuditParts = { db: Db; longReader: Db; settings: { RETENTION_DAYS: number } }

const exportPage = 500

/** Changes, for admins of their organization and for operators. */
export function addAuditRoutes(on: OnOperation, { db, longReader, settings }: AuditParts): void {
  on('GET /v1/audit', async (request) => {
    const filter = await filterOf(db, request.caller, request.query)
    const page = await listPage(request, {
      cursor: idCursor('aud'),
      cursorOf: ({ id }) => id,
      read: ({ after, limit }) => listAudit(longReader, { ...filter, before: after, limit }),
      toView: toEntry,
    })
    return { ...page, ...retentionOf(settings) }
  })

  on('GET /v1/audit/export', async ({ caller, query, context }) => {
    const filter = await filterOf(db, caller, query)
    context.type = 'application/x-ndjson'
    context.body = Readable.from(readLines(longReader, filter))
  })
}

async function* readLines(db: Db, filter: AuditFilter): AsyncGenerator<string> {
  let before: string | undefined
  do {
    const rows = await listAudit(db, { ...filter, before, limit: exportPage })
    for (const row of rows) yield `${JSON.stringify(toEntry(row))}\n`
    before = rows.length === exportPage ? rows.at(-1)?.id : undefined
  } while (before !== undefined)
}

async function filterOf(
  db: Db,
  caller: Person,
  query: OperationRequest<'GET /v1/audit/export'>['query'],
): Promise<AuditFilter> {
  const { organization, action, subject, actor } = query
  return {
    ...(await ownerOf(db, caller, organization)),
    ...(action !== undefined && { action }),
    ...(subject !== undefined && { subjectId: subject }),
    ...(actor !== undefined && { actorId: actor }),
    ...spanOf(query),
  }
}

function toEntry(row: AuditRow): AuditEntry {
  return {
    object: 'audit',
    id: row.id,
    at: toIso(row.createdAt),
    action: row.action,
    actor: { kind: row.actorKind, id: row.actorId },
    organization: row.organizationId,
    subject: { kind: row.subjectKind, id: row.subjectId },
    before: row.before as AuditEntry['before'],
    after: row.after as AuditEntry['after'],
    request: row.requestId,
    address: row.address,
  }
}
