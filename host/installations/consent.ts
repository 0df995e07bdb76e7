import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { findGrant, holdInstallations, insertGrant } from '../db/queries/grants.ts'
import type { Installation } from '../db/queries/installations.ts'
import { releaseWaiting } from '../db/queries/release-waiting.ts'
import { liftSuspensions } from '../db/queries/suspensions.ts'
import type { VersionHead } from '../db/queries/versions.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import {
  describePermission,
  findUnagreed,
  type Permission,
  permissionsOf,
  permissionsWithout,
} from '../manifest/permissions.ts'
import { auditLevel } from './audit-level.ts'
import { type Deployed, lockDeployed } from './find-deployed.ts'
import { lockLevel } from './lock-level.ts'
import { noteStatus } from './note-status.ts'

/**
 * The words of an installer: the number of the version that the installer has read, and the names of all its scopes.
 * `agree: false` asks for the sentences, and installs nothing.
 */
export type Agreement = { version?: number; scopes?: string[]; agree?: boolean }

/**
 * Asserts that an installer has named a version and all its scopes. The request alone is no agreement: a client that has never
 * read the sentences could send it.
 *
 * @throws AnnexError `agreement_missing` with a sentence for each permission, and the words that agree
 */
export function assertAgreed(
  manifest: Manifest,
  { number }: Pick<VersionHead, 'number'>,
  { version, scopes, agree = true }: Agreement,
): void {
  const isNamed = scopes !== undefined && manifest.scopes.every((scope) => scopes.includes(scope))
  if (agree && version === number && isNamed) return
  const sentences = permissionsOf(manifest).map(describePermission)
  const list = sentences.map((sentence) => `\n  ${sentence}`).join('') || '\n  It asks for nothing.'
  const other = version === undefined || version === number ? '' : `You have read version ${version}. `
  const words = { version: number, scopes: manifest.scopes }
  throw new AnnexError(
    'agreement_missing',
    `${other}Version ${number} of ${manifest.name} asks for your agreement:${list}\nTo agree, name its version and all its scopes in the body: ${JSON.stringify(words)}`,
    {
      details: [
        { path: '/version', message: 'names the version that you have read', value: words.version },
        { path: '/scopes', message: 'names all scopes of the version', value: words.scopes },
        ...sentences.map((message) => ({ path: '/agree', message })),
      ],
    },
  )
}

/** Records a grant, in the transaction of the installation or of the switch to the version. */
export async function recordGrant(
  transaction: Db,
  given: {
    installation: Installation
    manifest: Manifest
    version: Pick<VersionHead, 'number'>
    origin: Origin
  },
): Promise<void> {
  const { installation, manifest, version, origin } = given
  const permissions = permissionsOf(manifest)
  await insertGrant(transaction, {
    installationId: installation.id,
    version: version.number,
    permissions: JSON.stringify(permissions),
    actor: origin.actor,
  })
  const after = {
    version: version.number,
    permissions: permissions.map(({ kind, name }) => `${kind} ${name}`),
  }
  await auditLevel(transaction, origin, installation, { action: 'grant.create', after })
}

/** What the deployed version asks for, and the organization has not agreed to. */
export async function findMissing(
  db: Db,
  installation: Installation,
  { manifest }: Pick<Deployed, 'manifest'>,
): Promise<Permission[]> {
  const grant = await findGrant(db, installation.id)
  const before = grant === undefined ? [] : JSON.parse(grant.permissions)
  return findUnagreed(before, permissionsOf(manifest))
}

/**
 * Agrees to the deployed version for an installation, which runs it from then on.
 *
 * @throws AnnexError `agreement_missing`, `conflict` when no version waits
 */
export async function agreeTo(
  db: Db,
  installation: Installation,
  given: Agreement & { origin: Origin },
): Promise<void> {
  const { integration, id } = installation
  const lanes = await transact(db, async (transaction) => {
    const { version, manifest } = await lockDeployed(transaction, integration)
    const now = await lockLevel(transaction, installation)
    if (now.heldVersionId === null)
      throw new AnnexError('conflict', `${id} runs version ${version.number} of ${integration} already.`)
    assertAgreed(manifest, version, given)
    await recordGrant(transaction, { installation: now, manifest, version, origin: given.origin })
    await holdInstallations(transaction, [id], null)
    const lifted = await liftSuspensions(transaction, integration, version.digest)
    const cause = { why: 'agreement', origin: given.origin, version: version.number } as const
    await noteStatus(transaction, now, cause)
    return lifted
  })
  for (const lane of lanes) await releaseWaiting(db, lane)
}

/** The difference of two versions, for people. */
export type Difference = {
  added: Permission[]
  removed: Permission[]
  /** True when organizations with the first version have to agree to the second one. */
  needsAgreement: boolean
  settings: { added: string[]; removed: string[] }
}

export function compareVersions(from: Manifest, to: Manifest): Difference {
  const [before, after] = [permissionsOf(from), permissionsOf(to)]
  const [old, current] = [settingNames(from), settingNames(to)]
  return {
    added: permissionsWithout(after, before),
    removed: permissionsWithout(before, after),
    needsAgreement: findUnagreed(before, after).length > 0,
    settings: {
      added: current.filter((name) => !old.includes(name)),
      removed: old.filter((name) => !current.includes(name)),
    },
  }
}

/** The settings of all levels: `site.webhook_url`. */
const settingNames = ({ configurations = {} }: Manifest): string[] =>
  Object.entries(configurations).flatMap(([level, declared]) =>
    Object.keys(declared?.properties ?? {}).map((name) => `${level}.${name}`),
  )
