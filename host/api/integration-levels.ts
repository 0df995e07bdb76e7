import type { SiteInstallation, SpaceInstallation } from '../../schemas/generated/api/installations.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { listTargetsOfIntegration, type TargetKind } from '../db/queries/installations.ts'
import { AnnexError } from '../errors.ts'
import { createManifestReader } from '../installations/find-deployed.ts'
import { toTargetView } from '../installations/installation-view.ts'
import { isPerson } from './caller.ts'
import type { OnOperation, OperationRequest } from './operations.ts'
import { openIntegration } from './visible-records.ts'

export type IntegrationLevelParts = { db: Db; publicUrl: () => string }

type Request = Pick<OperationRequest<'listIntegrationSiteInstallations'>, 'params' | 'query'> & {
  caller: Caller
}

const maxItems = 1000

/** The site and space installations of an integration. */
export function addIntegrationLevelRoutes(on: OnOperation, { db, publicUrl }: IntegrationLevelParts): void {
  on('listIntegrationSiteInstallations', (request) => list<SiteInstallation>('site', request))
  on('listIntegrationSpaceInstallations', (request) => list<SpaceInstallation>('space', request))

  async function list<View>(kind: TargetKind, { caller, params, query }: Request) {
    const { integration } = params
    if (!isPerson(caller) && caller.integration !== integration) throw noIntegration(integration)
    const { externalId, page } = query
    const limit = Math.min(query.limit ?? 50, maxItems)
    const found = await listTargetsOfIntegration(db, {
      ...{ integration, kind, limit: limit + 1 },
      ...(caller.kind === 'organization' && { organizationId: caller.organizationId }),
      ...(externalId !== undefined && { externalId }),
      ...(page !== undefined && { after: placeIn(page) }),
    })
    if (found.length === 0 && isPerson(caller)) await openIntegration(db, caller, integration)
    const readManifest = createManifestReader(db)
    const items = await Promise.all(
      found.slice(0, limit).map(async ({ installation, target }) => {
        const viewer = { caller, manifest: await readManifest(installation), publicUrl: publicUrl() }
        return toTargetView(installation, target, viewer) as View
      }),
    )
    const last = found.length > limit ? found[limit - 1]?.target : undefined
    const next = last && { page: toPage(last) }
    return { items, ...(next && { next }), count: items.length }
  }
}

type At = { installationId: string; targetId: string }

const toPage = ({ installationId, targetId }: At): string =>
  Buffer.from(`${installationId} ${targetId}`).toString('base64url')

/** @throws AnnexError `bad_request` */
function placeIn(page: string): At {
  const [, installationId, targetId] =
    /^(inst_[0-9a-f-]{36}) ([a-z]+_[0-9a-f-]{36})$/.exec(Buffer.from(page, 'base64url').toString()) ?? []
  if (installationId !== undefined && targetId !== undefined) return { installationId, targetId }
  throw new AnnexError('bad_request', 'page is no page of this list. Send `next.page` of the page before.')
}

const noIntegration = (name: string): AnnexError =>
  new AnnexError('not_found', `There is no integration ${name} that this token may see.`)
