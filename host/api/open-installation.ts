import type { Context } from 'koa'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import {
  findTarget,
  type InstallationTarget,
  type TargetKind,
} from '../db/queries/installed/installation-targets.ts'
import type { Installation } from '../db/queries/installed/installations.ts'
import { findPlace } from '../db/queries/records/named-places.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { getDeployed } from '../installations/find-deployed.ts'
import type { Authenticate } from './caller.ts'
import { visibleInstallation } from './visible-records.ts'

/** What a route about an installation works with. */
export type OpenInstallation = { caller: Caller; installation: Installation; manifest: Manifest }

/**
 * The installation that a path names by `:name` and `:id`, when whoever calls may see it.
 *
 * @throws AnnexError `unauthorized`, `not_found`, `no_version`
 */
export async function openInstallation(
  db: Db,
  authenticate: Authenticate,
  context: Context,
): Promise<OpenInstallation> {
  const caller = await authenticate(context)
  const { name, id } = context.params
  const installation = await visibleInstallation(db, caller, String(name), String(id))
  return { caller, installation, manifest: (await getDeployed(db, installation.integration)).manifest }
}

/**
 * The site or space installation that a path names by `:target`, the id or slug of the place.
 *
 * @throws AnnexError `not_found`
 */
export async function openTarget(
  db: Db,
  context: Context,
  kind: TargetKind,
  { id, organizationId }: Installation,
): Promise<InstallationTarget> {
  const name = String(context.params.target)
  const targetId = (await findPlace(db, kind, organizationId, name))?.id ?? name
  const target = await findTarget(db, { installationId: id, kind, targetId })
  if (target !== undefined) return target
  throw new AnnexError('not_found', `${id} is not installed in the ${kind} ${name}.`)
}
