import type { Db } from '../db/db.ts'
import { listInstallationsOn } from '../db/queries/installation-targets.ts'
import { findInstallation } from '../db/queries/installations.ts'
import { AnnexError } from '../errors.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import { changeSite } from '../installations/records.ts'
import { originOf } from './caller.ts'
import type { OnOperation } from './operations.ts'
import { openSite } from './sites.ts'

export type VisitorParts = { db: Db; publicUrl: () => string }

const scope = 'site:visitor:auth'

/** What a site asks and knows of its visitors: their claims, and where they sign in. */
export function addVisitorRoutes(on: OnOperation, { db, publicUrl }: VisitorParts): void {
  on('getSiteAdaptiveSchema', async (request) => {
    const site = await openSite(db, request)
    if (site.adaptiveSchema !== null) return { jsonSchema: JSON.parse(site.adaptiveSchema) }
    throw new AnnexError('not_found', `The site ${site.id} has no adaptive schema yet. PUT one.`)
  })

  on('updateSiteAdaptiveSchema', async (request) => {
    const site = await openSite(db, request)
    const { jsonSchema } = request.body
    const change = { adaptiveSchema: JSON.stringify(jsonSchema) }
    await changeSite(db, site, change, originOf(request))
    return { jsonSchema }
  })

  on('getSitePublishingAuthById', async (request) => {
    const site = await openSite(db, request)
    const found = await findAuthentication(db, site.id)
    if (found === undefined) return { object: 'site-authentication', backend: 'none' }
    const { integration, id: installation } = found
    const path = `/v1/integrations/${integration}/installations/${installation}/sites/${site.id}/visitor-auth`
    const loginUrl = publicUrl() + path
    return { object: 'site-authentication', backend: 'integration', integration, installation, loginUrl }
  })
}

async function findAuthentication(
  db: Db,
  siteId: string,
): Promise<{ id: string; integration: string } | undefined> {
  for (const { installationId, status } of await listInstallationsOn(db, 'site', siteId)) {
    if (status !== 'active') continue
    const installation = await findInstallation(db, installationId)
    if (installation?.status !== 'active') continue
    const manifest = (await findDeployed(db, installation.integration))?.manifest
    if (manifest?.scopes.includes(scope)) return installation
  }
  return undefined
}
