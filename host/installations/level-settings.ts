import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { InstallationTarget } from '../db/queries/installed/installation-targets.ts'
import type {
  Configuration,
  Installation,
  InstallationStatus,
} from '../db/queries/installed/installations.ts'
import type { ErrorDetail } from '../errors/annex-error.ts'
import { checkConfiguration } from '../manifest/settings/configuration-schema.ts'
import type { Level as ConfigurationLevel, SettingProblem } from '../manifest/settings/setting-problems.ts'
import { splitConfiguration, withoutUnfit } from './effective-configuration.ts'

/** An installation, or one of its sites or spaces. */
export type InstalledLevel = { installation: Installation; target?: InstallationTarget }

export const levelOf = (target: InstallationTarget | undefined): ConfigurationLevel =>
  target?.kind ?? 'account'

/**
 * `active` is stored when a level is set up. It holds while the level's settings fit the version that is deployed
 * (spec 7), so a new version, or an edit of the account, makes it `pending` and loses nothing.
 */
export function statusOf(manifest: Manifest | undefined, level: InstalledLevel): InstallationStatus {
  const { status } = level.target ?? level.installation
  return status === 'active' && whyPending(manifest, level).length > 0 ? 'pending' : status
}

/** Why a level is not complete: a reason for each setting that is missing or does not fit. */
export function whyPending(manifest: Manifest | undefined, level: InstalledLevel): ErrorDetail[] {
  if (manifest === undefined) return []
  const { configuration } = level.target ?? level.installation
  const { declared } = splitConfiguration(manifest, levelOf(level.target), configuration)
  return findProblems(manifest, level, declared, 'integration').map(({ path, message }) => ({
    path,
    // Credentials of an older version's button: a reason is shown to people, and quotes the value.
    message: isObject(declared[path]) ? 'does not fit what was stored; set it again' : message,
  }))
}

/** In a site or space the account's values stand in for settings that are not given, where they fit. */
export function findProblems(
  manifest: Manifest,
  { installation, target }: InstalledLevel,
  given: Configuration,
  by: 'installer' | 'integration' = 'installer',
): SettingProblem[] {
  const level = levelOf(target)
  const account =
    target === undefined ? {} : splitConfiguration(manifest, level, installation.configuration).declared
  const inherited = withoutUnfit(manifest, level, withoutUnfit(manifest, 'account', account))
  const { configuration: stored } = target ?? installation
  return checkConfiguration(manifest, level, { ...inherited, ...given }, { by, stored }).problems
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null
