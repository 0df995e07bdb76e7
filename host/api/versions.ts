import type {
  InstallationAgreement,
  Permission as PermissionView,
  Version as VersionView,
} from '../../schemas/generated/api/versions.ts'
import type { Db } from '../db/db.ts'
import { findGrant } from '../db/queries/grants.ts'
import { findInstallation, type Installation } from '../db/queries/installations.ts'
import { findIntegration, type IntegrationRow } from '../db/queries/integrations.ts'
import { countUnreached } from '../db/queries/reach.ts'
import { listVersions, type VersionHead } from '../db/queries/versions.ts'
import { AnnexError } from '../errors.ts'
import { agreeTo, compareVersions, findMissing } from '../installations/consent.ts'
import { getDeployed } from '../installations/find-deployed.ts'
import { readUses, type ScopeUses } from '../installations/permission-uses.ts'
import { pruneIntegrations } from '../installations/prune.ts'
import { readReach } from '../installations/reach.ts'
import { rollBack, unpin } from '../installations/rollback.ts'
import { describePermission, type Permission, permissionsOf } from '../manifest/permissions.ts'
import type { ReadOptions } from '../manifest/read-options.ts'
import { originOf } from './caller.ts'
import { listPage, numberCursor, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'
import { openIntegration, openOwnIntegration, visibleInstallation } from './visible-records.ts'

type VersionParts = {
  db: Db
  reading: ReadOptions
  /** Stores the counted uses of permissions, so that a query finds them. */
  flushUses: () => Promise<void>
}

/** Versions of integrations, and the agreements of organizations. */
export function addVersionRoutes(on: OnOperation, parts: VersionParts): void {
  const { db, reading, flushUses } = parts

  on('GET /v1/integrations/{integration}/versions', async (request) => {
    const { caller, params, query } = request
    const { row } = await openIntegration(db, caller, params.integration, query.installKey)
    return listPage(request, {
      cursor: numberCursor,
      read: ({ after, limit }) =>
        listVersions(db, row.name, { limit, ...(after !== undefined && { before: Number(after) }) }),
      cursorOf: ({ number }) => String(number),
      toView: (version) => toVersion(version, row),
    })
  })

  on('GET /v1/integrations/{integration}/versions/{version}/diff', async ({ caller, params, query }) => {
    const { row, isOwner } = await openIntegration(db, caller, params.integration, query.installKey)
    const versions = await listVersions(db, row.name)
    const to = getVersion(versions, row.name, Number(params.version))
    const before = versions.find(({ number }) => number < to.number)
    const from = query.from === undefined ? (before ?? to) : getVersion(versions, row.name, query.from)
    const difference = compareVersions(JSON.parse(from.manifest), JSON.parse(to.manifest))
    return {
      object: 'version-difference',
      from: from.number,
      to: to.number,
      ...difference,
      added: difference.added.map(toPermission),
      removed: difference.removed.map(toPermission),
      ...(isOwner && { waiting: await countWaiting(row, to.id) }),
    }
  })

  on('POST /v1/integrations/{integration}/rollback', async ({ caller, params, body, context }) => {
    const row = await openOwnIntegration(db, caller, params.integration, 'choose its version')
    const asked = { number: body.version, isDry: body.dryRun }
    const version = await rollBack(db, row, asked, reading, originOf({ caller, context }))
    return answerSwitched(version)
  })

  on('POST /v1/integrations/{integration}/unpin', async ({ caller, params, context }) => {
    const row = await openOwnIntegration(db, caller, params.integration, 'choose its version')
    return answerSwitched(await unpin(db, row, originOf({ caller, context })))
  })

  on(
    'GET /v1/integrations/{integration}/installations/{installation}/agreement',
    async ({ caller, params }) =>
      toAgreement(
        (await visibleInstallation(db, caller, params.integration, params.installation)).installation,
      ),
  )

  on(
    'POST /v1/integrations/{integration}/installations/{installation}/agreement',
    async ({ caller, params, body, context }) => {
      const found = await visibleInstallation(db, caller, params.integration, params.installation)
      const { installation } = found
      await agreeTo(db, installation, { ...body, origin: originOf({ caller, context }) })
      return toAgreement((await findInstallation(db, installation.id)) ?? installation)
    },
  )

  on('POST /v1/prune', async ({ caller, context, body }) => {
    const items = await pruneIntegrations(db, body, originOf({ caller, context }))
    return { items, count: items.length }
  })

  /** The installations whose organizations have not agreed to a version. */
  async function countWaiting({ name, versionId }: IntegrationRow, of: string): Promise<number> {
    const reach = await readReach(db, name, { versionId: of, deployedId: versionId ?? of })
    return countUnreached(db, name, reach)
  }

  async function answerSwitched(version: VersionHead): Promise<VersionView> {
    const row = await findIntegration(db, version.integration)
    return toVersion(version, row)
  }

  async function toAgreement(installation: Installation): Promise<InstallationAgreement> {
    const { integration, id, heldVersionId, usesCountedSince, createdAt } = installation
    const run = await getDeployed(db, integration, installation)
    const deployed = heldVersionId === null ? undefined : await getDeployed(db, integration)
    const grant = await findGrant(db, id)
    await flushUses()
    const uses = await readUses(db, id)
    return {
      object: 'agreement',
      installation: id,
      version: run.version.number,
      countedSince: toIso(usesCountedSince ?? createdAt),
      agreed:
        grant === undefined
          ? null
          : {
              version: grant.version,
              permissions: JSON.parse(grant.permissions).map((permission: Permission) => ({
                ...toPermission(permission),
                ...(permission.kind === 'scope' && toUses(uses.get(permission.name))),
              })),
              by: { kind: grant.actorKind, id: grant.actorId },
              at: toIso(grant.createdAt),
            },
      waiting:
        deployed === undefined
          ? null
          : {
              version: deployed.version.number,
              permissions: (await findMissing(db, installation, deployed)).map(toPermission),
            },
    }
  }
}

/** @throws AnnexError `not_found` */
function getVersion(versions: readonly VersionHead[], name: string, number: number): VersionHead {
  const found = versions.find((version) => version.number === number)
  if (found !== undefined) return found
  throw new AnnexError('not_found', `${name} has no version ${number}, or it is no longer kept.`)
}

function toVersion(version: VersionHead, row: IntegrationRow | undefined): VersionView {
  const { id, number, digest, manifest, createdAt } = version
  const isDeployed = row?.versionId === id
  return {
    object: 'version',
    number,
    digest,
    state: isDeployed ? 'deployed' : row?.loadedVersionId === id ? 'loaded' : 'kept',
    pinned: row?.pinnedVersionId === id,
    permissions: permissionsOf(JSON.parse(manifest)).map(toPermission),
    createdAt: toIso(createdAt),
  }
}

function toUses(found: ScopeUses | undefined) {
  if (found === undefined) return { usedLast30Days: 0, lastUsedOn: null }
  return { usedLast30Days: found.uses, lastUsedOn: toIso(found.lastDay).slice(0, 10) }
}

/** With its sentence. */
export const toPermission = (permission: Permission): PermissionView => ({
  ...permission,
  sentence: describePermission(permission),
})
