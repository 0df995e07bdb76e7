import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Db } from '../db/db.ts'
import type { Installation } from '../db/queries/installations.ts'
import {
  findIntegration,
  findWithVersion,
  type IntegrationRow,
  lockIntegration,
} from '../db/queries/integrations.ts'
import type { VersionHead } from '../db/queries/versions.ts'
import { AnnexError } from '../errors.ts'

/** An integration and its deployed version. */
export type Deployed = { integration: IntegrationRow; version: VersionHead; manifest: Manifest }

/**
 * Finds an integration with its deployed version, or with the version that an installation runs: an older one while the
 * deployed one waits for its organization's agreement.
 *
 * @returns undefined when the integration does not exist, or has no deployed version
 */
export async function findDeployed(
  db: Db,
  name: string,
  installation?: Pick<Installation, 'heldVersionId'>,
): Promise<Deployed | undefined> {
  const found = await findWithVersion(db, name, installation?.heldVersionId ?? null)
  return found && { ...found, manifest: JSON.parse(found.version.manifest) as Manifest }
}

/** As `findDeployed`. @throws AnnexError `not_found`, `no_version` */
export async function getDeployed(
  db: Db,
  name: string,
  installation?: Pick<Installation, 'heldVersionId'>,
): Promise<Deployed> {
  const deployed = await findDeployed(db, name, installation)
  if (deployed !== undefined) return deployed
  if ((await findIntegration(db, name)) === undefined) {
    throw new AnnexError('not_found', `There is no integration ${name}.`)
  }
  throw new AnnexError(
    'no_version',
    `No version of ${name} is deployed: its plugin folder is gone, or was never loaded without errors.`,
  )
}

/** As `getDeployed`. The version stays deployed until the transaction ends, so an agreement to it fits what then runs. */
export async function lockDeployed(transaction: Db, name: string): Promise<Deployed> {
  await lockIntegration(transaction, name)
  return getDeployed(transaction, name)
}

type Runner = Pick<Installation, 'integration' | 'heldVersionId'>

/** Reads the versions that many installations run, each once. */
export function createDeployedReader(db: Db): (installation: Runner) => Promise<Deployed | undefined> {
  const found = new Map<string, Promise<Deployed | undefined>>()
  return (installation) => {
    const { integration, heldVersionId } = installation
    const key = `${integration} ${heldVersionId ?? ''}`
    const deployed = found.get(key) ?? findDeployed(db, integration, installation)
    found.set(key, deployed)
    return deployed
  }
}

/** As `createDeployedReader`, for the manifests alone. */
export function createManifestReader(db: Db): (installation: Runner) => Promise<Manifest | undefined> {
  const readDeployed = createDeployedReader(db)
  return async (installation) => (await readDeployed(installation))?.manifest
}
