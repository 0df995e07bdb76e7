import { hash } from 'node:crypto'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { systemOrigin } from '../access/actor.ts'
import { createSigningSecret, type SecretBox } from '../access/secret-box.ts'
import { isJsonObject } from '../assert-json.ts'
import type { Bundle } from '../bundle/bundle-script.ts'
import type { Db } from '../db/db.ts'
import { holdInstallations, listGranted } from '../db/queries/grants.ts'
import {
  ensureIntegration,
  findIntegration,
  lockIntegration,
  setIntegrationVersion,
  setLoadedVersion,
} from '../db/queries/integrations.ts'
import { releaseWaiting } from '../db/queries/release-waiting.ts'
import { liftSuspensions } from '../db/queries/suspensions.ts'
import type { VersionImage } from '../db/queries/version-images.ts'
import {
  ensureVersion,
  findVersionHead,
  removeOldVersions,
  type VersionHead,
  type VersionRow,
} from '../db/queries/versions.ts'
import { transact } from '../db/sql.ts'
import { recordAudit } from '../logs/audit.ts'
import type { NormalManifest } from '../manifest/normalize-manifest.ts'
import { findUnagreed, type Permission, permissionsOf } from '../manifest/permissions.ts'

type Stored = { version: VersionRow; lanes: string[]; pinned?: number | undefined }

/** A loaded version. `pinned`: the number of the deployed version, which a person has pinned. */
export type LoadedVersion = VersionRow & { pinned?: number }

/**
 * Stores a version (manifest, bundle, digest) and deploys it, unless another version is pinned. A stored version with the same
 * digest is used again: versions are immutable.
 */
export async function deployVersion(
  db: Db,
  box: SecretBox,
  given: {
    manifest: NormalManifest
    bundle: Bundle
    images?: readonly VersionImage[]
    /** The event types that the script handles. Default: not known. */
    events?: readonly string[]
    folder: string
    /** Of the host that has the folder. */
    hostId: string
    organizationId: string
  },
): Promise<LoadedVersion> {
  const { manifest, bundle, images = [], events, folder, hostId, organizationId } = given
  const { name } = manifest
  const { version, lanes, pinned } = await transact(db, async (transaction): Promise<Stored> => {
    // Locks the integration's row: hosts that deploy it at the same time wait here.
    await ensureIntegration(transaction, {
      name,
      organizationId,
      folder,
      loadedBy: hostId,
      signingSecret: box.seal(createSigningSecret()),
    })
    const version = await ensureVersion(
      transaction,
      {
        integration: name,
        digest: toVersionDigest(manifest, bundle.code, images),
        manifest: JSON.stringify(manifest),
        code: bundle.code,
        sourceMap: bundle.map,
        handledEvents: events === undefined ? null : JSON.stringify(events),
      },
      images,
    )
    const row = await findIntegration(transaction, name)
    const pinned = row?.pinnedVersionId ? await findVersionHead(transaction, row.pinnedVersionId) : undefined
    if (pinned !== undefined) {
      // The folder was gone, and has come back.
      const lanes =
        row?.versionId === null ? await switchVersion(transaction, name, pinned, { pinned: true }) : []
      await setLoadedVersion(transaction, name, version.id)
      return { version, lanes, ...(pinned.id !== version.id && { pinned: pinned.number }) }
    }
    if (row?.versionId !== version.id)
      await recordAudit(transaction, systemOrigin, {
        action: 'version.deploy',
        organizationId,
        subject: { kind: 'integration', id: name },
        after: { version: version.number, digest: version.digest },
      })
    const lanes = await switchVersion(transaction, name, version, { pinned: false })
    await setLoadedVersion(transaction, name, version.id)
    return { version, lanes }
  })
  for (const lane of lanes) await releaseWaiting(db, lane)
  return { ...version, ...(pinned !== undefined && { pinned }) }
}

/**
 * Deploys a stored version. An installation whose organization has not agreed to its permissions goes on with the version that
 * it runs. Suspensions of other versions end.
 *
 * @returns the lanes with waiting jobs, as `liftSuspensions`
 */
export async function switchVersion(
  transaction: Db,
  name: string,
  version: VersionHead,
  { pinned }: { pinned: boolean },
): Promise<string[]> {
  const row = await lockIntegration(transaction, name)
  const before = row?.versionId ?? null
  await setIntegrationVersion(transaction, name, version, { pinned })
  if (before !== version.id) {
    await holdUnagreed(transaction, version, before ?? row?.loadedVersionId ?? null)
    await removeOldVersions(transaction, name, before)
  }
  return liftSuspensions(transaction, name, version.digest)
}

async function holdUnagreed(transaction: Db, version: VersionHead, beforeId: string | null): Promise<void> {
  const installed = await listGranted(transaction, { integration: version.integration })
  const before = beforeId === null ? undefined : await findVersionHead(transaction, beforeId)
  if (installed.length === 0 || before === undefined) return
  const wanted = permissionsOf(JSON.parse(version.manifest))
  const agreedBefore = JSON.stringify(permissionsOf(JSON.parse(before.manifest)))
  // Most installations have the same grant: each is compared once.
  const byGrant = Map.groupBy(installed, ({ permissions }) => permissions ?? agreedBefore)
  for (const [permissions, all] of byGrant) {
    const agreed: Permission[] = JSON.parse(permissions)
    const mustWait = findUnagreed(agreed, wanted).length > 0
    const changed = all.filter(({ heldVersionId }) => (heldVersionId === null) === mustWait)
    const ids = changed.map(({ id }) => id)
    await holdInstallations(transaction, ids, mustWait ? before.id : null)
  }
}

/** The identity of a version: SHA-256, in hex, of its manifest (in any order of fields), its code and its images. */
export function toVersionDigest(
  manifest: Manifest,
  code: string,
  images: readonly Pick<VersionImage, 'name' | 'digest'>[] = [],
): string {
  const digests = images.map(({ name, digest }) => [name, digest]).sort()
  // JSON has no NUL byte, so each pair of manifest and code results in a different text.
  const pictures = digests.length === 0 ? '' : `${JSON.stringify(digests)}\0`
  return hash('sha256', `${pictures}${toCanonicalJson(manifest)}\0${code}`)
}

/** JSON with the keys of each map sorted. */
function toCanonicalJson(data: unknown): string {
  return JSON.stringify(data, (_, value) =>
    isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}
