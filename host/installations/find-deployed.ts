import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Db } from '../db/db.ts'
import {
  findIntegration,
  findVersionHead,
  type IntegrationRow,
  type VersionHead,
} from '../db/queries/integrations.ts'
import { AnnexError } from '../errors.ts'

/** An integration and its deployed version. */
export type Deployed = { integration: IntegrationRow; version: VersionHead; manifest: Manifest }

/** @returns undefined when the integration does not exist, or has no deployed version */
export async function findDeployed(db: Db, name: string): Promise<Deployed | undefined> {
  const integration = await findIntegration(db, name)
  if (integration === undefined || integration.versionId === null) return undefined
  const version = await findVersionHead(db, integration.versionId)
  return version && { integration, version, manifest: JSON.parse(version.manifest) as Manifest }
}

/** @throws AnnexError `not_found`, `no_version` */
export async function getDeployed(db: Db, name: string): Promise<Deployed> {
  const deployed = await findDeployed(db, name)
  if (deployed !== undefined) return deployed
  if ((await findIntegration(db, name)) === undefined) {
    throw new AnnexError('not_found', `There is no integration ${name}.`)
  }
  throw new AnnexError(
    'no_version',
    `No version of ${name} is deployed: its plugin folder is gone, or was never loaded without errors.`,
  )
}
