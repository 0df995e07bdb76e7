import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Configuration } from '../db/queries/installed/installations.ts'
import { checkConfiguration, withDefaults } from '../manifest/settings/configuration-schema.ts'
import type { Level as ConfigurationLevel } from '../manifest/settings/setting-problems.ts'

/**
 * What a script reads: the manifest's defaults, over them the account's values, over them the level's own. Each
 * level stores its own values alone, so that a default that changes reaches all who have not chosen. A stored value
 * that does not fit the deployed version is left out, so that a script gets what its types say.
 */
export function effectiveConfiguration(
  manifest: Manifest,
  level: ConfigurationLevel,
  own: Configuration,
  account: Configuration = {},
): Configuration {
  const accountDefaults = level === 'account' ? {} : withDefaults(manifest, 'account', {})
  const inherited = level === 'account' ? {} : withoutUnfit(manifest, 'account', account)
  const values = withoutUnfit(manifest, level, { ...inherited, ...withoutUnfit(manifest, level, own) })
  return { ...accountDefaults, ...withDefaults(manifest, level, {}), ...values }
}

/** Leaves out the values of declared settings that do not fit what the manifest declares for them. */
export function withoutUnfit(
  manifest: Manifest,
  level: ConfigurationLevel,
  configuration: Configuration,
): Configuration {
  const { declared } = splitConfiguration(manifest, level, configuration)
  if (Object.keys(declared).length === 0) return configuration
  const { problems } = checkConfiguration(manifest, level, declared, { by: 'integration' })
  const unfit = problems.filter(({ kind }) => kind === 'invalid').map(({ path }) => path)
  return Object.fromEntries(Object.entries(configuration).filter(([name]) => !unfit.includes(name)))
}

/** The settings that the manifest declares, apart from what a script has stored beside them. */
export function splitConfiguration(
  manifest: Manifest,
  level: ConfigurationLevel,
  configuration: Configuration,
): { declared: Configuration; scriptOwned: Configuration } {
  const settings = manifest.configurations?.[level]?.properties ?? {}
  const entries = Object.entries(configuration)
  return {
    declared: Object.fromEntries(entries.filter(([name]) => Object.hasOwn(settings, name))),
    scriptOwned: Object.fromEntries(entries.filter(([name]) => !Object.hasOwn(settings, name))),
  }
}
