import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Db } from '../db/db.ts'
import { type Level, levelsTo, lockRow, noteSetupFailure } from '../db/queries/levels.ts'
import type { LevelRecords } from './build-environment.ts'
import { effectiveConfiguration, splitConfiguration } from './effective-settings.ts'
import { findProblems } from './level-settings.ts'
import { noteStatus, type StatusCause } from './note-status.ts'
import { queueSetup } from './setup-event.ts'

/** A setup handler that failed without its settings. A retry would fail as well. */
export type SetupFailure = { level: Level; reason: string }

/** @returns undefined when no setting is missing */
export function toSetupFailure({ manifest, own }: LevelRecords, failed: string): SetupFailure | undefined {
  const missing = own === undefined ? [] : missingSettings(manifest, own)
  if (own === undefined || missing.length === 0) return undefined
  const names = missing.join(', ')
  const reason = `Its setup needs settings that are not there yet: ${names}. The next edit runs it again. ${failed}`
  return { level: own, reason }
}

/** Keeps the level pending, with the reason. The setup is queued again where the settings were edited while it ran. */
export async function storeSetupFailure(
  transaction: Db,
  { level, reason }: SetupFailure,
  cause: Omit<StatusCause, 'why'>,
): Promise<void> {
  const above = level.above && (await lockRow(transaction, level.above))
  const now = await lockRow(transaction, level)
  // The level was uninstalled while its setup ran.
  if (now === undefined || (level.above !== undefined && above === undefined)) return
  if (settingsOf(now, above) === settingsOf(level, level.above)) {
    await noteSetupFailure(transaction, level, reason)
    return noteStatus(transaction, level, { why: 'setup_failed', ...cause })
  }
  await queueSetup(transaction, now, now.status)
}

const settingsOf = (...levels: (Level | undefined)[]): string =>
  JSON.stringify(levels.map((level) => level?.configuration))

/**
 * The settings that a setup handler may still lack: required ones that are missing or do not fit, and before the first edit of
 * the level all that have no value. A component's settings are named by the component.
 */
function missingSettings(manifest: Manifest, level: Level): string[] {
  const levels = levelsTo(level)
  const unset = level.status === 'pending' ? levels.flatMap((one) => unsetSettings(manifest, one)) : []
  return [...new Set([...levels.flatMap((one) => unfitSettings(manifest, one)), ...unset])]
}

function unfitSettings(manifest: Manifest, level: Level): string[] {
  const { declared } = splitConfiguration(manifest, level.kind, level.configuration)
  return findProblems(manifest, level, declared, 'integration').map(({ path }) => path)
}

function unsetSettings(manifest: Manifest, level: Level): string[] {
  const { properties = {}, componentId } = manifest.configurations?.[level.kind] ?? {}
  if (componentId !== undefined) return Object.keys(level.configuration).length === 0 ? [componentId] : []
  const values = effectiveConfiguration(manifest, level)
  return Object.keys(properties).filter((name) => values[name] === undefined)
}
