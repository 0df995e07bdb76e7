import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import {
  type Installation,
  listSelectingAll,
  type PlaceKind,
  type Selection,
  updateSelection,
} from '../db/queries/installations.ts'
import { lockOrganization } from '../db/queries/organizations.ts'
import { listPlaceIds } from '../db/queries/places.ts'
import { transact } from '../db/sql.ts'
import { auditLevel } from './audit-level.ts'
import { findDeployed } from './find-deployed.ts'
import { assertFits, insertInPlace, isFit } from './install.ts'
import { lockLevel } from './lock-level.ts'

type Selections = { spaces?: Selection; sites?: Selection }

const kinds = { spaces: 'space', sites: 'site' } as const

/**
 * Selects all spaces or sites of the organization, or those that people install in. `all` installs the integration in each that
 * there is now; `installInNew` does so for later ones. `selected` uninstalls nothing.
 *
 * @throws AnnexError `conflict` when the manifest does not fit the kind
 */
export async function select(
  db: Db,
  box: SecretBox,
  { installation, manifest }: { installation: Installation; manifest: Manifest },
  selections: Selections,
  origin: Origin,
): Promise<void> {
  await transact(db, async (transaction) => {
    // A space or site that another transaction makes refers to the organization: it comes before, or sees the selection.
    await lockOrganization(transaction, installation.organizationId)
    const now = await lockLevel(transaction, installation)
    const before = { spaces: now.spaceSelection, sites: now.siteSelection }
    const change = { before, after: { ...before, ...selections } }
    await auditLevel(transaction, origin, installation, { action: 'installation.select', ...change })
    for (const [name, kind] of Object.entries(kinds)) {
      const selection = selections[name as keyof Selections]
      if (selection === undefined) continue
      await updateSelection(transaction, installation.id, kind, selection)
      if (selection === 'selected') continue
      assertFits(manifest, kind)
      for (const placeId of await listPlaceIds(transaction, kind, installation.organizationId)) {
        await insertInPlace(transaction, box, { installation, kind, placeId, origin })
      }
    }
  })
}

/** Installs, in a space or site that is new in the transaction, the integrations that select all of its kind. */
export async function installInNew(
  transaction: Db,
  box: SecretBox,
  kind: PlaceKind,
  { id: placeId, organizationId }: { id: string; organizationId: string },
  origin: Origin,
): Promise<void> {
  for (const installation of await listSelectingAll(transaction, kind, organizationId)) {
    const manifest = (await findDeployed(transaction, installation.integration, installation))?.manifest
    if (manifest === undefined || !isFit(manifest, kind)) continue
    await insertInPlace(transaction, box, { installation, kind, placeId, origin })
  }
}
