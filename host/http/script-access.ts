import type { ScriptCaller } from '../access/script-tokens.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { listInstallationsOn, type TargetKind } from '../db/queries/installed/installation-targets.ts'
import { findInstallation, type Installation } from '../db/queries/installed/installations.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { assertScope } from '../sandbox/host-calls.ts'

/**
 * A script reads a site or a space when its manifest declares the scope, and it is installed there.
 *
 * @throws AnnexError `scope_missing`, which names the scope; `not_found` outside its own targets
 */
export async function assertScriptMayRead(
  db: Db,
  caller: ScriptCaller,
  scope: string,
  kind: TargetKind,
  targetId: string,
): Promise<void> {
  assertScope(caller, scope)
  for (const { installationId } of await listInstallationsOn(db, kind, targetId)) {
    if (caller.kind === 'installation' && caller.installationId === installationId) return
    if (caller.kind === 'integration') {
      const installation = await findInstallation(db, installationId)
      if (installation?.integration === caller.integration) return
    }
  }
  throw new AnnexError(
    'not_found',
    `There is no ${kind} ${targetId} that ${caller.integration} is installed in.`,
  )
}

/**
 * The installation, when the caller may see it: a script its own, an integration all of its own, a person those
 * of their organization.
 *
 * @throws AnnexError `not_found`
 */
export async function visibleInstallation(
  db: Db,
  caller: Caller,
  integration: string,
  id: string,
): Promise<Installation> {
  const installation = await findInstallation(db, id)
  if (
    installation !== undefined &&
    installation.integration === integration &&
    maySee(caller, installation)
  ) {
    return installation
  }
  throw new AnnexError('not_found', `${integration} has no installation ${id} that this token may see.`)
}

function maySee(caller: Caller, installation: Installation): boolean {
  switch (caller.kind) {
    case 'operator':
      return true
    case 'organization':
      return caller.organizationId === installation.organizationId
    case 'integration':
      return caller.integration === installation.integration
    case 'installation':
      return caller.installationId === installation.id
  }
}
