import type Router from '@koa/router'
import { issueToken, redeemSetupToken } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import {
  findOrganization,
  insertOrganization,
  listOrganizations,
  type Organization,
} from '../db/queries/organizations.ts'
import { AnnexError } from '../errors.ts'
import { jsonBody, nameSchema, titleSchema } from './body.ts'
import { type Authenticate, assertOperator, organizationOf } from './caller.ts'

export type OrganizationParts = { db: Db; authenticate: Authenticate }

/** This body is read without a token. */
const maxSetupBytes = 4096

const setupBody = jsonBody<{ token: string }>(
  {
    type: 'object',
    required: ['token'],
    additionalProperties: false,
    properties: { token: { type: 'string' } },
  },
  maxSetupBytes,
)
const organizationBody = jsonBody<{ subdomain: string; title: string }>({
  type: 'object',
  required: ['subdomain', 'title'],
  additionalProperties: false,
  properties: { subdomain: nameSchema, title: titleSchema },
})
const tokenBody = jsonBody<{ label?: string }>({
  type: 'object',
  additionalProperties: false,
  properties: { label: { type: 'string', maxLength: 200 } },
})

/** Organizations, their tokens, and the token of the first operator. */
export function addOrganizationRoutes(router: Router, { db, authenticate }: OrganizationParts): void {
  /** `{ token }`: exchanges the one-time setup token for an operator's token. 401 when it was used or has expired. */
  router.post('/v1/setup', async (context) => {
    const { token } = await setupBody(context)
    context.body = { token: await redeemSetupToken(db, token) }
  })

  /** Lists organizations. An operator sees all, a member their own. 403 for a script. */
  router.get('/v1/orgs', async (context) => {
    const caller = await authenticate(context)
    const all =
      caller.kind === 'operator' ? await listOrganizations(db) : [await organizationOf(db, caller, undefined)]
    context.body = { items: all.map(toOrganization), count: all.length }
  })

  /** `{ subdomain, title }`: makes an organization. Operators only. 409 when the subdomain is taken. */
  router.post('/v1/orgs', async (context) => {
    assertOperator(await authenticate(context))
    const given = await organizationBody(context)
    const organization = await insertOrganization(db, given)
    if (organization === undefined) {
      throw new AnnexError('conflict', `There is an organization "${given.subdomain}" already.`)
    }
    context.status = 201
    context.body = toOrganization(organization)
  })

  /** One organization by its id or subdomain. 404 when the caller may not see it. */
  router.get('/v1/orgs/:org', async (context) => {
    context.body = toOrganization(await organizationOf(db, await authenticate(context), context.params.org))
  })

  /** `{ label? }`: makes a token of the organization and shows it once. Operators only. */
  router.post('/v1/orgs/:org/tokens', async (context) => {
    assertOperator(await authenticate(context))
    const { label = '' } = await tokenBody(context)
    const organization = await findOrganization(db, String(context.params.org))
    if (organization === undefined)
      throw new AnnexError('not_found', `There is no organization ${context.params.org}.`)
    context.status = 201
    context.body = {
      token: await issueToken(db, { kind: 'organization', organizationId: organization.id, label }),
      organization: organization.id,
    }
  })
}

function toOrganization({ id, subdomain, title, createdAt }: Organization): object {
  return { object: 'organization', id, subdomain, title, createdAt: new Date(createdAt).toISOString() }
}
