import type { Context } from 'koa'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import type { Installation } from '../db/queries/installed/installations.ts'
import { type Edit, type Edited, editByInstaller, editByScript } from '../installations/configure.ts'
import { getDeployed } from '../installations/find-deployed.ts'
import type { Authenticate } from './caller.ts'
import { visibleInstallation } from './script-access.ts'

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

/** An edit by whoever calls: a person's is checked and sets off the setup event, a script's is its own affair. */
export function editAs(
  db: Db,
  { caller, manifest }: OpenInstallation,
  edited: Edited,
  edit: Edit,
): Promise<void> {
  const isPerson = caller.kind === 'operator' || caller.kind === 'organization'
  return isPerson ? editByInstaller(db, manifest, edited, edit) : editByScript(db, manifest, edited, edit)
}
