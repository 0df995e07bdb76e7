import type { Organization as OrganizationView } from '../../schemas/generated/api/organizations.ts'
import { redeemSetupToken } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { withExternalIds, withExternalIdsOf } from '../db/queries/external-ids.ts'
import { listOrganizations, type Organization } from '../db/queries/organizations.ts'
import { AnnexError } from '../errors.ts'
import { recordAudit } from '../logs/audit.ts'
import { changeOrganization, createOrganization, deleteOrganization } from '../places/records.ts'
import { organizationOf, originOf } from './caller.ts'
import { idCursor, listPage, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

type OrganizationParts = {
  db: Db
  /** The id of the operator's own organization. */
  operatorOrganization: string
}

/** Organizations, and the token of the first operator. */
export function addOrganizationRoutes(on: OnOperation, parts: OrganizationParts): void {
  const { db, operatorOrganization } = parts
  const view = async (organization: Organization) => toView(await withExternalIdsOf(db, organization))

  on('POST /v1/setup', async ({ body, context }) => ({
    token: await redeemSetupToken(db, body.token, (transaction, { setup, made }) =>
      recordAudit(
        transaction,
        {
          actor: { kind: 'token', id: setup },
          requestId: context.state.requestId,
          address: context.ip || null,
        },
        { action: 'setup.redeem', organizationId: null, subject: { kind: 'token', id: made } },
      ),
    ),
  }))

  on('GET /v1/orgs', async (request) => {
    const { caller } = request
    const visible = caller.kind === 'operator' ? {} : { id: caller.organizationId }
    return listPage(request, {
      cursor: idCursor('org'),
      read: async (at) => withExternalIds(db, await listOrganizations(db, visible, at)),
      cursorOf: ({ id }) => id,
      toView,
    })
  })

  on('POST /v1/orgs', async (request) => view(await createOrganization(db, originOf(request), request.body)))

  on('GET /v1/orgs/{org}', async ({ caller, params }) => view(await organizationOf(db, caller, params.org)))

  on('PATCH /v1/orgs/{org}', async (request) => {
    const { caller, params, body } = request
    const { id } = await organizationOf(db, caller, params.org)
    if (caller.kind !== 'operator' && (body.subdomain ?? body.externalIds) !== undefined) {
      const text = 'Only an operator changes the subdomain or the external ids of an organization.'
      throw new AnnexError('forbidden', text)
    }
    const changed = await changeOrganization(db, originOf(request), id, body)
    return view(changed)
  })

  on('DELETE /v1/orgs/{org}', async (request) => {
    const { caller, params } = request
    const { id } = await organizationOf(db, caller, params.org)
    if (id === operatorOrganization) {
      throw new AnnexError('conflict', `${id} is the operator's organization: Annex needs it.`)
    }
    const deleted = await deleteOrganization(db, originOf(request), id)
    return { object: 'organization', id, deleted }
  })
}

function toView({
  id,
  subdomain,
  title,
  externalIds,
  createdAt,
}: Organization & { externalIds: string[] }): OrganizationView {
  return { object: 'organization', id, subdomain, title, externalIds, createdAt: toIso(createdAt) }
}
