import type {
  ListedSiteInstallation,
  ListedSpaceInstallation,
} from '../../schemas/generated/api/installations.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import type { PlaceKind } from '../db/queries/installations.ts'
import { toStoredName } from '../db/queries/integrations.ts'
import { listPlacesOfIntegration } from '../db/queries/levels.ts'
import { AnnexError } from '../errors.ts'
import { createManifestReader } from '../installations/find-deployed.ts'
import { toListed, toPlaceView } from '../installations/installation-view.ts'
import type { MissedCalls } from '../installations/missed-calls.ts'
import { isPerson } from './caller.ts'
import { listPage } from './list-query.ts'
import type { OnOperation, OperationRequest } from './operations.ts'
import { openIntegration, reachOf } from './visible-records.ts'

type IntegrationLevelParts = { db: Db; publicUrl: () => string; onMissed: MissedCalls['note'] }

type Request = Pick<
  OperationRequest<'GET /v1/integrations/{integration}/sites'>,
  'params' | 'query' | 'operation'
> & { caller: Caller }

/** The site and space installations of an integration. */
export function addIntegrationLevelRoutes(
  on: OnOperation,
  { db, publicUrl, onMissed }: IntegrationLevelParts,
): void {
  on('GET /v1/integrations/{integration}/sites', (request) => list<ListedSiteInstallation>('site', request))
  on('GET /v1/integrations/{integration}/spaces', (request) =>
    list<ListedSpaceInstallation>('space', request),
  )

  async function list<View>(kind: PlaceKind, request: Request) {
    const { caller, params, query } = request
    const integration = await toStoredName(db, params.integration)
    if (!isPerson(caller) && caller.integration !== integration) throw noIntegration(params.integration)
    const { externalId } = query
    const where = {
      ...{ integration, kind },
      ...(caller.kind === 'organization' && { organizationId: caller.organizationId }),
      ...(externalId !== undefined && { externalId }),
      ...(await reachOf(db, request, onMissed)),
    }
    const readManifest = createManifestReader(db)
    const answer = await listPage(request, {
      cursor: levelCursor,
      read: ({ after, limit }) =>
        listPlacesOfIntegration(db, {
          ...where,
          limit,
          ...(after !== undefined && { after: parseCursor(after) }),
        }),
      cursorOf: ({ installationId, placeId }) => `${installationId} ${placeId}`,
      toView: async (level) => {
        const viewer = { caller, manifest: await readManifest(level.above), publicUrl: publicUrl() }
        return toListed(toPlaceView(level, viewer), caller) as View
      },
    })
    if (answer.count === 0 && isPerson(caller)) await openIntegration(db, caller, params.integration)
    return answer
  }
}

const levelCursor = /^(inst_[0-9a-f-]{36}) ([a-z]+_[0-9a-f-]{36})$/

function parseCursor(cursor: string): { installationId: string; placeId: string } {
  const [, installationId = '', placeId = ''] = levelCursor.exec(cursor) ?? []
  return { installationId, placeId }
}

const noIntegration = (name: string): AnnexError =>
  new AnnexError('not_found', `There is no integration ${name} that you may see.`)
