import { createHash } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { findRunning } from '../db/queries/installations.ts'
import { listPlaceRowsOn, type PlaceLevel } from '../db/queries/levels.ts'
import { AnnexError } from '../errors.ts'
import { overlapEnd } from '../installations/rotate-secret.ts'
import { verifyVisitorToken } from '../installations/visitor-token.ts'
import { changeSite } from '../places/records.ts'
import { signInPath } from '../sandbox/level-ref.ts'
import { originOf } from './caller.ts'
import { readIfMatch, readIfMatchOrNew } from './if-match.ts'
import { toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'
import { openSite } from './sites.ts'

type VisitorParts = { db: Db; box: SecretBox; publicUrl: () => string }

const scope = 'site:visitor:auth'

/** What a site asks and knows of its visitors: their claims, and where they sign in. */
export function addVisitorRoutes(on: OnOperation, { db, box, publicUrl }: VisitorParts): void {
  on('GET /v1/orgs/{org}/sites/{site}/adaptive-schema', async (request) => {
    const { id, adaptiveSchema } = await openSite(db, request)
    if (adaptiveSchema === null) throw noSchema(id)
    request.context.set('etag', tagOf(adaptiveSchema))
    return { jsonSchema: JSON.parse(adaptiveSchema) }
  })

  on('PUT /v1/orgs/{org}/sites/{site}/adaptive-schema', async (request) => {
    const { caller, context, body } = request
    const site = await openSite(db, request)
    const assertMatch = readIfMatchOrNew(context, caller)
    const adaptiveSchema = JSON.stringify(body.jsonSchema)
    await changeSite(db, site, { adaptiveSchema }, originOf(request), (before) =>
      assertMatch(before.adaptiveSchema === null ? undefined : tagOf(before.adaptiveSchema)),
    )
    context.set('etag', tagOf(adaptiveSchema))
    return { jsonSchema: body.jsonSchema }
  })

  on('DELETE /v1/orgs/{org}/sites/{site}/adaptive-schema', async (request) => {
    const site = await openSite(db, request)
    const assertMatch = readIfMatch(request.context, request.caller)
    await changeSite(db, site, { adaptiveSchema: null }, originOf(request), (before) => {
      if (before.adaptiveSchema === null) throw noSchema(site.id)
      assertMatch(tagOf(before.adaptiveSchema))
    })
  })

  on('GET /v1/orgs/{org}/sites/{site}/publishing/auth', async (request) => {
    const site = await openSite(db, request)
    const found = await findAuthentication(db, site.id)
    if (found === undefined) return { object: 'site-authentication', backend: 'none' }
    const { integration, id: installation } = found.above
    const loginUrl = publicUrl() + signInPath(integration, found)
    const { caller } = request
    const isOwn = caller.kind === 'installation' && caller.installationId === installation
    const privateKey = isOwn ? { privateKey: box.open(found.signingSecret) } : {}
    return {
      object: 'site-authentication',
      backend: 'integration',
      integration,
      installation,
      loginUrl,
      ...privateKey,
    }
  })

  on('POST /v1/orgs/{org}/sites/{site}/publishing/auth/verify', async (request) => {
    const site = await openSite(db, request)
    const found = await findAuthentication(db, site.id)
    if (found === undefined) {
      throw new AnnexError('not_found', `No integration signs visitors of the site ${site.id} in.`)
    }
    const { signingSecret, previousSigningSecret } = found
    const now = nowOf(db)
    const isOverlap = overlapEnd(found, now) !== null
    const sealed = [signingSecret, ...(isOverlap && previousSigningSecret ? [previousSigningSecret] : [])]
    const keys = sealed.map((secret) => box.open(secret))
    const verified = verifyVisitorToken(request.body.token, keys, now)
    if (!verified.valid) return { object: 'visitor-token', valid: false, reason: verified.reason }
    const { claims, expiresAt } = verified
    return { object: 'visitor-token', valid: true, claims, expiresAt: toIso(expiresAt) }
  })
}

/** The ETag of a schema. */
const tagOf = (schema: string): string =>
  `"${createHash('sha256').update(schema).digest('base64url').slice(0, 22)}"`

const noSchema = (site: string): AnnexError =>
  new AnnexError('not_found', `The site ${site} has no adaptive schema. PUT one.`)

/** The installation that signs visitors of a site in: the first that is active there and has the scope. */
async function findAuthentication(db: Db, siteId: string): Promise<PlaceLevel | undefined> {
  for (const row of await listPlaceRowsOn(db, 'site', siteId)) {
    if (row.status !== 'active') continue
    const running = await findRunning(db, row.installationId)
    if (running?.installation.status !== 'active') continue
    if (running.manifest?.scopes.includes(scope)) return { ...row, above: running.installation }
  }
  return undefined
}
