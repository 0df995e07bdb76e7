import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Db } from '../db/db.ts'
import { lockTarget, noteSetupFailure } from '../db/queries/installation-targets.ts'
import { lockInstallation } from '../db/queries/installations.ts'
import type { LevelRecords } from './build-environment.ts'
import { findProblems, type InstalledLevel, levelOf } from './level-settings.ts'
import { queueSetup } from './setup-event.ts'
import { effectiveConfiguration, splitConfiguration } from './usable-settings.ts'

/** A setup handler that failed without its settings. A retry would fail as well. */
export type SetupFailure = { level: InstalledLevel; reason: string }

/** @returns undefined when no setting is missing */
export function toSetupFailure(
  { manifest, installation, target }: LevelRecords,
  failed: string,
): SetupFailure | undefined {
  if (installation === undefined) return undefined
  const level: InstalledLevel = { installation, ...(target && { target }) }
  const missing = missingSettings(manifest, level)
  if (missing.length === 0) return undefined
  const names = missing.join(', ')
  const reason = `Its setup needs settings that are not there yet: ${names}. The next edit runs it again. ${failed}`
  return { level, reason }
}

/** Keeps the level pending, with the reason. The setup is queued again where the settings were edited while it ran. */
export async function storeSetupFailure(transaction: Db, { level, reason }: SetupFailure): Promise<void> {
  const installation = await lockInstallation(transaction, level.installation.id)
  const target = level.target && (await lockTarget(transaction, level.target))
  // The level was uninstalled while its setup ran.
  if (installation === undefined || (level.target !== undefined && target === undefined)) return
  const now: InstalledLevel = { installation, ...(target && { target }) }
  if (settingsOf(now) === settingsOf(level)) return noteSetupFailure(transaction, level, reason)
  await queueSetup(transaction, { ...now, status: (target ?? installation).status })
}

const settingsOf = ({ installation, target }: InstalledLevel): string =>
  JSON.stringify([installation.configuration, target?.configuration])

/**
 * The settings that a setup handler may still lack: required ones that are missing or do not fit, and before the first edit of
 * the level all that have no value. A component's settings are named by the component.
 */
function missingSettings(manifest: Manifest, { installation, target }: InstalledLevel): string[] {
  const levels: InstalledLevel[] = [{ installation }, ...(target ? [{ installation, target }] : [])]
  const { status } = target ?? installation
  const unset = status === 'pending' ? levels.flatMap((level) => unsetSettings(manifest, level)) : []
  return [...new Set([...levels.flatMap((level) => unfitSettings(manifest, level)), ...unset])]
}

function unfitSettings(manifest: Manifest, level: InstalledLevel): string[] {
  const { configuration } = level.target ?? level.installation
  const { declared } = splitConfiguration(manifest, levelOf(level.target), configuration)
  return findProblems(manifest, level, declared, 'integration').map(({ path }) => path)
}

function unsetSettings(manifest: Manifest, { installation, target }: InstalledLevel): string[] {
  const level = levelOf(target)
  const { properties = {}, componentId } = manifest.configurations?.[level] ?? {}
  const { configuration } = target ?? installation
  if (componentId !== undefined) return Object.keys(configuration).length === 0 ? [componentId] : []
  const values = effectiveConfiguration(manifest, level, target ?? installation, installation)
  return Object.keys(properties).filter((name) => values[name] === undefined)
}
