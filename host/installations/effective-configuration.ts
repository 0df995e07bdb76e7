import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Configuration } from '../db/queries/installed/installations.ts'
import { type Level as ConfigurationLevel, withDefaults } from '../manifest/settings/configuration-schema.ts'

/**
 * What a script reads: the manifest's defaults, over them the account's values, over them the level's own. Each
 * level stores its own values alone, so that a default that changes reaches everybody who has not chosen.
 */
export function effectiveConfiguration(
  manifest: Manifest,
  level: ConfigurationLevel,
  own: Configuration,
  account: Configuration = {},
): Configuration {
  const accountDefaults = level === 'account' ? {} : withDefaults(manifest, 'account', {})
  return { ...accountDefaults, ...withDefaults(manifest, level, {}), ...account, ...own }
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
