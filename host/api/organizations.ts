import type Router from '@koa/router'
import { issueToken, redeemSetupToken } from '../access/tokens.ts'
import {
  findOrganization,
  insertOrganization,
  listOrganizations,
  type Organization,
} from '../db/queries/records/organizations.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { jsonBody } from './body.ts'
import { nameSchema, titleSchema } from './body-schemas.ts'
import { assertOperator, organizationOf } from './caller.ts'
import type { RouteParts } from './parts.ts'

/** Anybody may send one. */
const maxSetupBytes = 4096

/** The first operator, organizations, and tokens. */
export function addSetupRoutes(router: Router, { db, authenticate }: RouteParts): void {
  const setupBody = jsonBody<{ token: string }>(
    {
      type: 'object',
      required: ['token'],
      additionalProperties: false,
      properties: { token: { type: 'string' } },
    },
    maxSetupBytes,
  )
  /** Turns the one-time token of the first start into an operator's token. 401 when it was used or is old. */
  router.post('/v1/setup', async (context) => {
    const { token } = await setupBody(context)
    context.body = { token: await redeemSetupToken(db, token) }
  })

  /** An operator sees all organizations, anybody else their own. */
  router.get('/v1/orgs', async (context) => {
    const caller = await authenticate(context)
    const all =
      caller.kind === 'operator' ? await listOrganizations(db) : [await organizationOf(db, caller, undefined)]
    context.body = { items: all.map(toOrganization), count: all.length }
  })

  const organizationBody = jsonBody<{ subdomain: string; title: string }>({
    type: 'object',
    required: ['subdomain', 'title'],
    additionalProperties: false,
    properties: { subdomain: nameSchema, title: titleSchema },
  })
  /** Operators only. 409 when the subdomain is taken. */
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

  router.get('/v1/orgs/:org', async (context) => {
    context.body = toOrganization(await organizationOf(db, await authenticate(context), context.params.org))
  })

  const tokenBody = jsonBody<{ label?: string }>({
    type: 'object',
    additionalProperties: false,
    properties: { label: { type: 'string', maxLength: 200 } },
  })
  /** A new token of the organization, shown this once. Operators only. */
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
