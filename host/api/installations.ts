import type { Installation as InstallationView } from '../../schemas/generated/api/installations.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { findInstallation, type Installation } from '../db/queries/installations.ts'
import { toStoredName } from '../db/queries/integrations.ts'
import { listPlaceLevels, listSpaceIds } from '../db/queries/levels.ts'
import { listInstallationsWithSpaces } from '../db/queries/list-installations.ts'
import { listStores } from '../db/queries/stores.ts'
import { AnnexError } from '../errors.ts'
import { createManifestReader, findDeployed } from '../installations/find-deployed.ts'
import { install, installInPlace } from '../installations/install.ts'
import { toInstallationView, toListed, toPlaceView } from '../installations/installation-view.ts'
import { statusOf } from '../installations/level-settings.ts'
import { select } from '../installations/selection.ts'
import type { Suspensions } from '../installations/suspend.ts'
import { organizationOf, originOf, ownerOf } from './caller.ts'
import { idCursor, listPage } from './list-query.ts'
import type { OnOperation } from './operations.ts'
import { openIntegration, openLevel } from './visible-records.ts'

type InstallationParts = {
  db: Db
  box: SecretBox
  resume: Suspensions['resume']
  pause: Suspensions['pause']
  publicUrl: () => string
}

/** Installing in an organization, and pausing. */
export function addInstallationRoutes(on: OnOperation, parts: InstallationParts): void {
  const { db, box, pause, resume, publicUrl } = parts

  on('GET /v1/installations', async (request) => {
    const { caller, query } = request
    const where = {
      ...(await ownerOf(db, caller, query.organization)),
      ...(query.integration !== undefined && { integration: await toStoredName(db, query.integration) }),
      places: [query.site, query.space].filter((place) => place !== undefined),
    }
    const readManifest = createManifestReader(db)
    return listPage(request, {
      cursor: idCursor('inst'),
      read: (at) => listInstallationsWithSpaces(db, where, at),
      cursorOf: ({ id }) => id,
      toView: async (found) =>
        toListed(
          toInstallationView(found, { caller, manifest: await readManifest(found), publicUrl: publicUrl() }),
          caller,
        ),
    })
  })

  on('POST /v1/integrations/{integration}/installations', async ({ caller, params, body, context }) => {
    const organization = await organizationOf(db, caller, body.organization)
    const { installKey, organization: _, ...agreement } = body
    const { row } = await openIntegration(db, caller, params.integration, installKey)
    const installed = await install(db, box, {
      integration: row.name,
      organizationId: organization.id,
      agreement,
      origin: originOf({ caller, context }),
      ...(installKey !== undefined && { installKey }),
    })
    return { ...(await view(installed.installation, caller)), signingSecret: installed.signingSecret }
  })

  on('POST /v1/integrations/{integration}/installations/{installation}/pause', async (request) => {
    const { installation, manifest } = await openLevel(db, request)
    const status = statusOf(manifest, installation)
    if (status !== 'active') throw wrongStatus({ ...installation, status }, 'paused', 'active')
    await pause(installation, originOf(request))
    return viewChanged(request.caller, installation)
  })

  on('POST /v1/integrations/{integration}/installations/{installation}/resume', async (request) => {
    const { installation } = await openLevel(db, request)
    if (!resumable.has(installation.status)) {
      throw wrongStatus(installation, 'active', 'paused or suspended')
    }
    await resume({ installation: installation.id }, originOf(request))
    return viewChanged(request.caller, installation)
  })

  on('PUT /v1/integrations/{integration}/installations/{installation}/selection', async (request) => {
    const { installation, manifest } = await openLevel(db, request)
    await select(db, box, { installation, manifest }, request.body, originOf(request))
    return viewChanged(request.caller, installation)
  })

  on('GET /v1/integrations/{integration}/installations/{installation}/storage', async (request) => {
    const { installation } = await openLevel(db, request)
    const items = (await listStores(db, installation.id)).map(({ placeKind, placeId, keys, bytes }) => ({
      object: 'storage' as const,
      level: placeKind ?? ('installation' as const),
      ...(placeKind !== null && { [placeKind]: placeId }),
      keys,
      bytes,
    }))
    return { items, count: items.length }
  })

  async function viewChanged(caller: Caller, installation: Installation): Promise<InstallationView> {
    return view((await findInstallation(db, installation.id)) ?? installation, caller)
  }

  async function view(installation: Installation, caller: Caller): Promise<InstallationView> {
    const manifest = (await findDeployed(db, installation.integration, installation))?.manifest
    const spaces = await listSpaceIds(db, installation.id)
    return toInstallationView({ ...installation, spaces }, { caller, manifest, publicUrl: publicUrl() })
  }
}

const placeOperations = {
  site: {
    list: 'GET /v1/integrations/{integration}/installations/{installation}/sites',
    install: 'POST /v1/integrations/{integration}/installations/{installation}/sites',
  },
  space: {
    list: 'GET /v1/integrations/{integration}/installations/{installation}/spaces',
    install: 'POST /v1/integrations/{integration}/installations/{installation}/spaces',
  },
} as const

/** Installing in the sites and spaces of an organization. */
export function addPlaceRoutes(on: OnOperation, parts: InstallationParts): void {
  const { db, box, publicUrl } = parts

  for (const kind of ['site', 'space'] as const) {
    const { list, install: installOn } = placeOperations[kind]

    on(list, async (request) => {
      const { caller, installation, manifest } = await openLevel(db, request)
      const viewer = { caller, manifest, publicUrl: publicUrl() }
      return listPage(request, {
        cursor: idCursor(kind),
        read: (at) => listPlaceLevels(db, installation, kind, at),
        cursorOf: ({ placeId }) => placeId,
        // All are of one kind; the list of each kind has a type of its own.
        toView: (level): never => toListed(toPlaceView(level, viewer), caller) as never,
      })
    })

    on(installOn, async (request) => {
      const { caller, installation, manifest } = await openLevel(db, request)
      const name = 'site' in request.body ? request.body.site : request.body.space
      const installed = await installInPlace(db, box, {
        installation,
        manifest,
        kind,
        name,
        origin: originOf(request),
      })
      const viewer = { caller, manifest, publicUrl: publicUrl() }
      return { ...toPlaceView(installed.level, viewer), signingSecret: installed.signingSecret }
    })
  }
}

const resumable: ReadonlySet<string> = new Set(['paused', 'suspended'])

function wrongStatus({ id, status }: Installation, wanted: string, needed: string): AnnexError {
  const message =
    status === wanted
      ? `The installation ${id} is ${status} already.`
      : `The installation ${id} is ${status}; only one that is ${needed} can become ${wanted}.`
  return new AnnexError('conflict', message)
}
