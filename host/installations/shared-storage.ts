import type { Db } from '../db/db.ts'
import { findRunning } from '../db/queries/installations.ts'
import { findIntegration } from '../db/queries/integrations.ts'
import type { Writer } from '../db/queries/stores.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import { asksNoMore, isReached, mayInherit } from './reach.ts'

// All versions and installations of an integration share the values of its level. There a version must not leave an
// organization's data for another version, to which that organization has not agreed.

/** The script that reads or writes: its version, and the installation that it runs for, if it runs for one. */
export type Reading = { versionId: string | undefined; installationId: string | undefined }

export const writerOf = ({ level, by }: { level: LevelRef; by: Reading }): Writer =>
  level.kind === 'integration'
    ? { writerVersionId: by.versionId ?? null, writerInstallationId: by.installationId ?? null }
    : { writerVersionId: null, writerInstallationId: null }

/**
 * Whether a script may read a value, by the script that has stored it. Values of one writer are checked once.
 *
 * - An installation has stored it: the reader's version must reach that installation. Once it is uninstalled, the reader
 *   must ask for no more than the version that stored the value.
 * - A script of the integration itself has: see `mayInherit`.
 */
export function createReadable(db: Db, level: LevelRef, by: Reading): (value: Writer) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>()
  return async (value) => {
    const { writerVersionId, writerInstallationId } = value
    const { versionId, installationId } = by
    if (level.kind !== 'integration' || versionId === undefined || versionId === writerVersionId) return true
    if (writerInstallationId !== null && writerInstallationId === installationId) return true
    const key = `${writerVersionId} ${writerInstallationId}`
    const found = known.get(key) ?? read(versionId, value)
    known.set(key, found)
    return found
  }

  async function read(
    versionId: string,
    { writerVersionId, writerInstallationId }: Writer,
  ): Promise<boolean> {
    const leftBy = writerVersionId ?? undefined
    if (writerInstallationId !== null) {
      const running = await findRunning(db, writerInstallationId)
      return running === undefined ? asksNoMore(db, versionId, leftBy) : isReached(db, versionId, running)
    }
    const deployedId = (await findIntegration(db, level.integration))?.versionId
    if (deployedId == null) return true
    return mayInherit(db, level.integration, { versionId, leftBy, deployedId })
  }
}
