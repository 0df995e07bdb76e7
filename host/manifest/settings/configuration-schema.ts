import type { ConfigurationLevel, Manifest, Property } from '../../../schemas/generated/manifest.ts'
import { hintForName } from '../problems/nearest-name.ts'
import { quoteValue } from '../problems/visible-text.ts'

export type Level = 'account' | 'site' | 'space'
export type Configuration = Record<string, unknown>

/** What is wrong with one setting. `missing`: nothing wrong was given, but the level is not complete without it. */
export type SettingProblem = { path: string; message: string; kind: 'invalid' | 'missing' }

const maxTextLength = 10_000
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
  if (declared?.componentId !== undefined) return { configuration, problems: [] }
  const problems = [
    ...(by === 'installer' ? findUnknown(declared, level, given) : []),
    ...findWrong(declared, given, by, stored),
    ...findMissing(declared, configuration),
  ]
  return { configuration, problems }
}

/** Settings as a script reads them: what is not given has its default. */
export function withDefaults(manifest: Manifest, level: Level, configuration: Configuration): Configuration {
  const declared = Object.entries(manifest.configurations?.[level]?.properties ?? {})
  const defaults = declared.flatMap(([name, property]) =>
    'default' in property && property.default !== undefined ? [[name, property.default] as const] : [],
  )
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

function findUnknown(
  declared: ConfigurationLevel | undefined,
  level: Level,
  given: object,
): SettingProblem[] {
  const known = Object.keys(declared?.properties ?? {})
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => ({
      path: name,
      message: `there is no setting ${quoteValue(name)} for the ${level}; ${hintForName(name, known, 'settings')}`,
      kind: 'invalid',
    }))
}

function findWrong(
  declared: ConfigurationLevel | undefined,
  given: object,
  by: 'installer' | 'integration',
  stored: Configuration,
): SettingProblem[] {
  return Object.entries(declared?.properties ?? {}).flatMap(([name, property]) => {
    if (!Object.hasOwn(given, name)) return []
    const value = (given as Configuration)[name]
    const message =
      property.type === 'button' ? whyNotConnection(value, by, stored[name]) : whyNotValue(value, property)
    return message === undefined ? [] : [{ path: name, message, kind: 'invalid' as const }]
  })
}

function whyNotValue(value: unknown, property: Exclude<Property, { type: 'button' }>): string | undefined {
  const found = `found ${quoteValue(value)}`
  switch (property.type) {
    case 'string':
      if (typeof value !== 'string') return `must be text, ${found}`
      if (value.length > maxTextLength)
        return `has ${value.length} characters; at most ${maxTextLength} are allowed`
      if (property.enum === undefined || property.enum.includes(value)) return undefined
      return `cannot be ${quoteValue(value)}; ${hintForName(value, property.enum)}`
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? undefined : `must be a number, ${found}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `must be true or false, ${found}`
  }
}

function whyNotConnection(
  value: unknown,
  by: 'installer' | 'integration',
  stored: unknown,
): string | undefined {
  if (by === 'integration' || JSON.stringify(value) === JSON.stringify(stored)) return undefined
  return 'is set by connecting, not by hand'
}

function findMissing(
  declared: ConfigurationLevel | undefined,
  configuration: Configuration,
): SettingProblem[] {
  return (declared?.required ?? []).flatMap((name) => {
    const property = declared?.properties?.[name]
    if (property === undefined || ('default' in property && property.default !== undefined)) return []
    // A form sends an empty text for a field that was left empty.
    if (Object.hasOwn(configuration, name) && configuration[name] !== '') return []
    const message = property.type === 'button' ? 'is required: connect first' : 'is required'
    return [{ path: name, message, kind: 'missing' as const }]
  })
}
