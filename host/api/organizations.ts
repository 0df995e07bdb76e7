import type { Organization as OrganizationView } from '../../schemas/generated/api/organizations.ts'
import { issueToken, redeemSetupToken } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import {
  findOrganization,
  insertOrganization,
  listOrganizations,
  type Organization,
} from '../db/queries/organizations.ts'
import { AnnexError } from '../errors.ts'
import { organizationOf } from './caller.ts'
import type { OnOperation } from './operations.ts'

export type OrganizationParts = { db: Db }

/** Organizations, their tokens, and the token of the first operator. */
export function addOrganizationRoutes(on: OnOperation, { db }: OrganizationParts): void {
  on('redeemSetupToken', async ({ body }) => ({ token: await redeemSetupToken(db, body.token) }))

  on('listOrganizations', async ({ caller }) => {
    const all =
      caller.kind === 'operator' ? await listOrganizations(db) : [await organizationOf(db, caller, undefined)]
    return { items: all.map(toOrganization), count: all.length }
  })

  on('createOrganization', async ({ body }) => {
    const organization = await insertOrganization(db, body)
    if (organization !== undefined) return toOrganization(organization)
    throw new AnnexError('conflict', `There is an organization "${body.subdomain}" already.`)
  })

  on('getOrganizationById', async ({ caller, params }) =>
    toOrganization(await organizationOf(db, caller, params.org)),
  )

  on('createOrganizationToken', async ({ params, body }) => {
    const { label = '' } = body
    const organization = await findOrganization(db, params.org)
    if (organization === undefined) {
      throw new AnnexError('not_found', `There is no organization ${params.org}.`)
    }
    return {
      token: await issueToken(db, { kind: 'organization', organizationId: organization.id, label }),
      organization: organization.id,
    }
  })
}

function toOrganization({ id, subdomain, title, createdAt }: Organization): OrganizationView {
  return { object: 'organization', id, subdomain, title, createdAt: new Date(createdAt).toISOString() }
}
