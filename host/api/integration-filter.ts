import type { Db } from '../db/db.ts'
import type { IntegrationFilter, OwnIntegrations } from '../db/queries/integrations.ts'
import { AnnexError } from '../errors.ts'
import { toCategory } from '../manifest/normalize-manifest.ts'
import { isPerson, organizationOf } from './caller.ts'
import type { OperationRequest } from './operations.ts'

type Request = OperationRequest<'GET /v1/integrations'>

/**
 * Reads which integrations a list has.
 *
 * @returns `own`: undefined for an operator who names no organization, and sees all
 * @throws AnnexError `bad_request` for `installed` without an organization; `not_found` for the organization of another caller
 */
export async function readListed(
  db: Db,
  request: Request,
): Promise<{ own: OwnIntegrations | undefined; filter: IntegrationFilter }> {
  const { q, category, installed } = request.query
  const own = await ownOf(db, request)
  const filter = {
    ...(q !== undefined && { text: q }),
    ...(category !== undefined && { category: toCategory(category) }),
  }
  if (installed === undefined) return { own, filter }
  if (own === undefined || 'name' in own) {
    throw new AnnexError(
      'bad_request',
      '`installed` is for people. Leave it out: a script has no organization.',
    )
  }
  return { own, filter: { ...filter, installed: { ...own, is: installed } } }
}

async function ownOf(db: Db, { caller, query }: Request): Promise<OwnIntegrations | undefined> {
  if (!isPerson(caller)) return { name: caller.integration }
  const { installed, organization } = query
  const isWhole = caller.kind === 'operator' && installed === undefined && organization === undefined
  if (isWhole) return undefined
  return { organizationId: (await organizationOf(db, caller, organization)).id }
}
