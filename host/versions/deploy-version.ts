import { randomBytes } from 'node:crypto'
import { createSigningSecret, type SecretBox } from '../access/secret-box.ts'
import type { Bundle } from '../bundle/bundle-script.ts'
import { toVersionDigest } from '../bundle/version-digest.ts'
import type { Db } from '../db/db.ts'
import { liftSuspensions } from '../db/queries/installed/suspensions.ts'
import {
  ensureIntegration,
  ensureVersion,
  findIntegration,
  removeVersions,
  setIntegrationVersion,
  type VersionRow,
} from '../db/queries/integrations.ts'
import { releaseWaiting } from '../db/release-waiting.ts'
import type { NormalManifest } from '../manifest/normalize-manifest.ts'

/**
 * Stores a version (manifest, bundle, digest) and makes it the one that runs. What was stored before with the same
 * content is used again: a version never changes. The one that ran before is kept, older ones are removed.
 */
export async function deployVersion(
  db: Db,
  box: SecretBox,
  given: {
    manifest: NormalManifest
    bundle: Bundle
    folder: string
    /** Of the host whose folder it is. */
    place: string
    organizationId: string
  },
): Promise<VersionRow> {
  const { manifest, bundle, folder, place, organizationId } = given
  const { name } = manifest
  const { version, lanes } = await db.transaction(async (transaction) => {
    // Of hosts that deploy the same integration at once, the others wait here for the first: its row is locked.
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
  // Whoever deploys it tells those who work.
  for (const lane of lanes) await releaseWaiting(db, lane, () => {})
  return version
}
