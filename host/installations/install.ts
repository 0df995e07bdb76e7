import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import { isInstallKey } from '../access/install-keys.ts'
import { createSigningSecret, type SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import { type Installation, insertInstallation, type PlaceKind } from '../db/queries/installations.ts'
import type { IntegrationRow } from '../db/queries/integrations.ts'
import { insertPlaceLevel, type PlaceLevel } from '../db/queries/levels.ts'
import { findPlace, lockPlace } from '../db/queries/places.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { auditLevel } from './audit-level.ts'
import { type Agreement, assertAgreed, recordGrant } from './consent.ts'
import { lockDeployed } from './find-deployed.ts'
import { lockLevel } from './lock-level.ts'
import { noteStatus } from './note-status.ts'
import { queueSetup } from './setup-event.ts'

/**
 * Installs an integration in an organization: `pending`, with a signing secret of its own and a queued setup event. The secret
 * is returned this once. The installer's agreement is recorded with it.
 *
 * @throws AnnexError `not_found`, `no_version`, `agreement_missing`, `integration_private`, `integration_unlisted`, `conflict`
 */
export async function install(
  db: Db,
  box: SecretBox,
  given: {
    /** Its name. */
    integration: string
    organizationId: string
    installKey?: string
    agreement: Agreement
    origin: Origin
  },
): Promise<{ installation: Installation; signingSecret: string }> {
  const { organizationId, origin } = given
  const signingSecret = createSigningSecret()
  return transact(db, async (transaction) => {
    const { integration, manifest, version } = await lockDeployed(transaction, given.integration)
    await assertMayInstall(transaction, integration, manifest, organizationId, given.installKey)
    const inserted = await insertInstallation(transaction, {
      integration: integration.name,
      organizationId,
      signingSecret: box.seal(signingSecret),
    })
    if (inserted === undefined) throw installedAlready(integration.name, organizationId)
    assertAgreed(manifest, version, given.agreement)
    await recordGrant(transaction, { installation: inserted, manifest, version, origin })
    const after = { integration: integration.name, version: version.number }
    await auditLevel(transaction, origin, inserted, { action: 'installation.create', after })
    await noteStatus(transaction, inserted, { why: 'installed', origin, version: version.number })
    await queueSetup(transaction, inserted, inserted.status)
    return { installation: inserted, signingSecret }
  })
}

const installedAlready = (name: string, organizationId: string): AnnexError =>
  new AnnexError(
    'conflict',
    `${name} is installed in ${organizationId} already. Install it in a further site or space, or change its settings.`,
  )

/** Spec 2.2. A caller who may not see the integration gets its 404 before. */
async function assertMayInstall(
  db: Db,
  integration: IntegrationRow,
  manifest: Manifest,
  organizationId: string,
  installKey: string | undefined,
): Promise<void> {
  if (integration.organizationId === organizationId) return
  if (manifest.visibility === 'private') {
    throw new AnnexError(
      'integration_private',
      `${integration.name} is private: only members of the organization ${manifest.organization} can install it.`,
    )
  }
  if (manifest.visibility === 'unlisted' && !(await isInstallKey(db, integration.name, installKey))) {
    throw new AnnexError(
      'integration_unlisted',
      `${integration.name} is unlisted: it can be installed only by the install link that its owner shares.`,
    )
  }
}

/**
 * As `install`, for a site or a space of the installation's organization.
 *
 * @param given.name the id, slug or external id of the site or space
 * @throws AnnexError `not_found` when the organization has no such site or space, `conflict`
 */
export async function installInPlace(
  db: Db,
  box: SecretBox,
  given: { installation: Installation; manifest: Manifest; kind: PlaceKind; name: string; origin: Origin },
): Promise<{ level: PlaceLevel; signingSecret: string }> {
  const { installation, manifest, kind, name } = given
  assertFits(manifest, kind)
  const { organizationId } = installation
  const found = await findPlace(db, kind, organizationId, name)
  const missing = () => new AnnexError('not_found', `${organizationId} has no ${kind} ${name}.`)
  if (found === undefined) throw missing()
  const installed = await transact(db, async (transaction) => {
    if ((await lockPlace(transaction, kind, found.id)) === undefined) throw missing()
    // An uninstall that runs meanwhile ends all sites and spaces.
    await lockLevel(transaction, installation)
    return insertInPlace(transaction, box, {
      installation,
      kind,
      placeId: found.id,
      origin: given.origin,
    })
  })
  if (installed !== undefined) return installed
  throw new AnnexError('conflict', `${installation.id} is installed in the ${kind} ${found.slug} already.`)
}

/** @returns undefined when it is installed there already */
export async function insertInPlace(
  transaction: Db,
  box: SecretBox,
  given: { installation: Installation; kind: PlaceKind; placeId: string; origin: Origin },
): Promise<{ level: PlaceLevel; signingSecret: string } | undefined> {
  const { installation, kind, placeId, origin } = given
  const signingSecret = createSigningSecret()
  const level = await insertPlaceLevel(transaction, installation, {
    kind,
    placeId,
    signingSecret: box.seal(signingSecret),
  })
  if (level === undefined) return undefined
  const after = { integration: installation.integration }
  await auditLevel(transaction, origin, level, { action: 'installation.create', after })
  await noteStatus(transaction, level, { why: 'installed', origin })
  await queueSetup(transaction, level, level.status)
  return { level, signingSecret }
}

/** Without `target` a manifest fits sites and spaces. */
export const isFit = ({ target = 'all' }: Manifest, kind: PlaceKind): boolean =>
  target === 'all' || target === kind

export function assertFits(manifest: Manifest, kind: PlaceKind): void {
  if (isFit(manifest, kind)) return
  throw new AnnexError(
    'conflict',
    `${manifest.name} cannot be installed in a ${kind}: its target is "${manifest.target}".`,
  )
}
