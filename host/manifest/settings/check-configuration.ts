import type { ConfigurationLevel, Manifest } from '../../../schemas/generated/manifest.ts'
import { quoteValue } from '../message-text.ts'
import {
  type Configuration,
  findSettingProblems,
  type Level,
  type SettingProblem,
} from './setting-problems.ts'
import { defaultOf } from './settings-schema.ts'

const maxConfigurationLength = 64 * 1024

/**
 * Checks the settings that somebody gives for a level: every setting that is wrong or missing is reported, each
 * once. A default stands in for a missing value.
 *
 * What an OAuth connection stored under a `button` is not the installer's to write: it is carried over from
 * `stored`, and giving another value is an error. The integration itself (`by: 'integration'`) may write it, and
 * may keep values beside the declared ones, as scripts of the reference platform do.
 *
 * @returns the settings to store, and the problems; store only when none is `invalid`, and count the level as
 *   complete only when there is none at all
 */
export function checkConfiguration(
  manifest: Manifest,
  level: Level,
  given: unknown,
  options: { by?: 'installer' | 'integration'; stored?: Configuration } = {},
): { configuration: Configuration; problems: SettingProblem[] } {
  const { by = 'installer', stored = {} } = options
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const message = `the configuration must be a map of settings, found ${quoteValue(given)}`
    return { configuration: stored, problems: [{ path: '', message, kind: 'invalid' }] }
  }
  if (JSON.stringify(given).length > maxConfigurationLength) {
    const message = `the configuration has more than ${maxConfigurationLength} characters as JSON`
    return { configuration: stored, problems: [{ path: '', message, kind: 'invalid' }] }
  }
  if (Object.hasOwn(given, '__proto__')) {
    const message = 'is no name for a setting'
    return { configuration: stored, problems: [{ path: '__proto__', message, kind: 'invalid' }] }
  }
  const declared = manifest.configurations?.[level]
  const configuration = by === 'installer' ? withConnections(declared, given, stored) : { ...given }
  const found = findSettingProblems(declared, level, withDefaults(manifest, level, configuration))
  const connections = by === 'installer' ? findHandmadeConnections(declared, given, stored) : []
  const problems = [...found.unknown.filter(() => by === 'installer'), ...found.wrong, ...connections]
  return { configuration, problems: [...problems, ...found.missing] }
}

/** Settings as a script reads them: what is not given has its default. */
export function withDefaults(manifest: Manifest, level: Level, configuration: Configuration): Configuration {
  const declared = Object.entries(manifest.configurations?.[level]?.properties ?? {})
  const defaults = declared
    .map(([name, property]) => [name, defaultOf(property)] as const)
    .filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(defaults), ...configuration }
}

function withConnections(
  declared: ConfigurationLevel | undefined,
  given: object,
  stored: Configuration,
): Configuration {
  const connections = Object.entries(declared?.properties ?? {}).flatMap(([name, property]) =>
    property.type === 'button' && Object.hasOwn(stored, name) ? [[name, stored[name]] as const] : [],
  )
  return { ...given, ...Object.fromEntries(connections) }
}

function findHandmadeConnections(
  declared: ConfigurationLevel | undefined,
  given: object,
  stored: Configuration,
): SettingProblem[] {
  return Object.entries(declared?.properties ?? {}).flatMap(([name, property]) => {
    if (property.type !== 'button' || !Object.hasOwn(given, name)) return []
    if (JSON.stringify((given as Configuration)[name]) === JSON.stringify(stored[name])) return []
    return [{ path: name, message: 'is set by connecting, not by hand', kind: 'invalid' as const }]
  })
}
