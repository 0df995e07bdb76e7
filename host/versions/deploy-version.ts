import { createHash, randomBytes } from 'node:crypto'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { createSigningSecret, type SecretBox } from '../access/secret-box.ts'
import type { Bundle } from '../bundle/bundle-script.ts'
import type { Db } from '../db/db.ts'
import {
  ensureIntegration,
  ensureVersion,
  findIntegration,
  removeVersions,
  setIntegrationVersion,
  type VersionRow,
} from '../db/queries/integrations.ts'
import { releaseWaiting } from '../db/queries/release-waiting.ts'
import { liftSuspensions } from '../db/queries/suspensions.ts'
import type { NormalManifest } from '../manifest/normalize-manifest.ts'

/**
 * Stores a version (manifest, bundle, digest) and deploys it. A stored version with the same digest is used again:
 * versions are immutable. The version before it is kept; older ones are removed.
 */
export async function deployVersion(
  db: Db,
  box: SecretBox,
  given: {
    manifest: NormalManifest
    bundle: Bundle
    folder: string
    /** The host that has the folder. */
    place: string
    organizationId: string
  },
): Promise<VersionRow> {
  const { manifest, bundle, folder, place, organizationId } = given
  const { name } = manifest
  const { version, lanes } = await db.transaction(async (transaction) => {
    // Locks the integration's row: hosts that deploy it at the same time wait here.
    await ensureIntegration(transaction, {
      name,
      organizationId,
      folder,
      loadedBy: place,
      installKey: randomBytes(18).toString('base64url'),
      signingSecret: box.seal(createSigningSecret()),
    })
    const version = await ensureVersion(transaction, {
      integration: name,
      digest: toVersionDigest(manifest, bundle.code),
      manifest: JSON.stringify(manifest),
      code: bundle.code,
      sourceMap: bundle.map,
    })
    const before = (await findIntegration(transaction, name))?.versionId ?? null
    if (before !== version.id) {
      await setIntegrationVersion(transaction, name, version.id)
      await removeVersions(transaction, name, { deployed: version.id, before })
    }
    return { version, lanes: await liftSuspensions(transaction, name, version.digest) }
  })
  // No wake: the caller notifies the workers.
  for (const lane of lanes) await releaseWaiting(db, lane, () => {})
  return version
}

/** The identity of a version: SHA-256, in hex, of its manifest (in any order of fields) and its code. */
export function toVersionDigest(manifest: Manifest, code: string): string {
  // JSON has no NUL byte, so each pair of manifest and code results in a different text.
  return createHash('sha256')
    .update(`${toCanonicalJson(manifest)}\0${code}`)
    .digest('hex')
}

/** JSON with the keys of each map sorted. */
function toCanonicalJson(data: unknown): string {
  return JSON.stringify(data, (_, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}
