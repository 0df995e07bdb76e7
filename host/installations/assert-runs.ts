import type { Installation } from '../db/queries/installations.ts'
import { AnnexError } from '../errors.ts'
import { suspendedError } from '../sandbox/sandbox-errors.ts'

/**
 * A pending installation may run: completion and OAuth need its endpoint before it is active.
 *
 * @throws AnnexError `installation_paused`, `installation_suspended`
 */
export function assertRuns({ id, status, statusReason }: Installation): void {
  if (status === 'paused') {
    throw new AnnexError(
      'installation_paused',
      `The installation ${id} is paused. \`npx annex resume ${id}\` lets it go on.`,
    )
  }
  if (status === 'suspended') throw suspendedError(id, statusReason ?? '')
}
