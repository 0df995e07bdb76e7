import { hash } from 'node:crypto'
import { createRequire } from 'node:module'
import { isDeepStrictEqual } from 'node:util'
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import type { ConfigurationLevel, Manifest, Property } from '../../../schemas/generated/manifest.ts'
import { hintForName, listNames, quoteValue } from '../message-text.ts'
import {
  annotations,
  defaultOf,
  isWebAddress,
  type SettingsSchema,
  settingsSchema,
} from './settings-schema.ts'

export type LevelKind = 'account' | 'site' | 'space'
export type Configuration = Record<string, unknown>

const levels: readonly LevelKind[] = ['account', 'site', 'space']

/** A mistake in one setting. `missing`: the value is absent or empty, and the level is incomplete without it. */
export type SettingProblem = { path: string; message: string; kind: 'invalid' | 'missing' }

const load = createRequire(import.meta.url)

/** Compiling one takes up to 30 ms of CPU time: for 200 settings of 100 choices. */
const validators = new LRUCache<string, ValidateFunction>({ max: 200 })

const maxConfigurationLength = 64 * 1024

/**
 * Checks the settings of a level and reports each wrong or missing one. A default replaces a missing value.
 *
 * The value of a `button` belongs to an OAuth connection. An installer cannot change it: it is copied from `stored`, and
 * another value is an error. The integration itself (`by: 'integration'`) may change it and may store undeclared
 * settings, as on the reference platform.
 *
 * A message quotes no value of `stored`: its reader may not be the person who entered it.
 *
 * @returns the settings to store, and the problems. Store only without `invalid` problems. The level is complete only
 *   without any problem.
 */
export function checkConfiguration(
  manifest: Manifest,
  level: LevelKind,
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
  const isStored = (name: string) =>
    Object.hasOwn(stored, name) && isDeepStrictEqual(stored[name], (configuration as Configuration)[name])
  const found = findSettingProblems(declared, level, withDefaults(manifest, level, configuration), isStored)
  const unknown = found.unknown.map((problem) => {
    const owner = describeLevels(manifest, level, problem.path)
    const message = `is no setting of the ${level}: it belongs to ${owner}`
    return owner === '' ? problem : { ...problem, message }
  })
  const connections = by === 'installer' ? findHandmadeConnections(declared, given, stored) : []
  const problems = [...unknown.filter(() => by === 'installer'), ...found.wrong, ...connections]
  return { configuration, problems: [...problems, ...found.missing] }
}

/** What a level declares of a setting. Names come from bodies and scripts: `constructor` is none. */
export function propertyOf(
  manifest: { configurations?: Manifest['configurations'] | undefined } | undefined,
  level: LevelKind,
  name: string,
): Property | undefined {
  const properties = manifest?.configurations?.[level]?.properties ?? {}
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** The levels that declare a setting which `level` lacks: `the account`, `the site and the space`. Empty: no level does. */
export function describeLevels(manifest: Manifest, level: LevelKind, name: string): string {
  const has = (at: LevelKind) => propertyOf(manifest, at, name) !== undefined
  const owning = has(level) ? [] : levels.filter(has)
  return owning.map((kind) => `the ${kind}`).join(' and ')
}

/** Settings as a script reads them, with defaults. */
export function withDefaults(
  manifest: Manifest,
  level: LevelKind,
  configuration: Configuration,
): Configuration {
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

/** Reports each setting that is unknown, wrong or missing, once. */
function findSettingProblems(
  declared: ConfigurationLevel | undefined,
  level: LevelKind,
  configuration: Configuration,
  isStored: (name: string) => boolean,
): Record<'unknown' | 'wrong' | 'missing', SettingProblem[]> {
  const schema = settingsSchema(declared)
  const validate = toValidator(schema)
  const problems: Record<'unknown' | 'wrong' | 'missing', SettingProblem[]> = {
    unknown: [],
    wrong: [],
    missing: [],
  }
  if (validate(configuration)) return problems
  const found = validate.errors?.flatMap((error) => toProblems(error, level, schema, isStored)) ?? []
  const seen = new Set<string>()
  // A wrong value is not reported as missing, too.
  for (const group of ['unknown', 'wrong', 'missing'] as const) {
    for (const { path, message } of found.filter((problem) => problem.group === group)) {
      if (seen.has(path)) continue
      seen.add(path)
      problems[group].push({ path, message, kind: group === 'missing' ? 'missing' : 'invalid' })
    }
  }
  return problems
}

function toValidator(schema: SettingsSchema): ValidateFunction {
  const key = hash('sha256', JSON.stringify(schema))
  const validate = validators.get(key) ?? compile(schema)
  validators.set(key, validate)
  return validate
}

/** An instance for each schema: Ajv keeps all that it compiles. */
function compile(schema: SettingsSchema): ValidateFunction {
  // Loading Ajv takes 25 ms.
  const { Ajv2020 } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const ajv = new Ajv2020({
    allErrors: true,
    // The messages quote the value and the choices.
    verbose: true,
    messages: false,
    // A setting may be called `toString`: an inherited value does not count.
    ownProperties: true,
    // Hundreds of unrolled choices take six times as long to compile.
    loopEnum: 1,
    // A required button has `minLength` without a type.
    strictTypes: false,
    meta: false,
    validateSchema: false,
    keywords: annotations,
    formats: { uri: (text: string) => text === '' || isWebAddress(text) },
  })
  return ajv.compile(schema)
}

type Found = { group: 'unknown' | 'wrong' | 'missing'; path: string; message: string }

function toProblems(
  error: ErrorObject,
  level: LevelKind,
  schema: SettingsSchema,
  isStored: (name: string) => boolean,
): Found[] {
  if (error.schemaPath.startsWith('#/anyOf/')) return []
  if (error.keyword !== 'anyOf') return [toProblem(error, level, schema, isStored)]
  const names = (schema.anyOf ?? []).flatMap(({ required }) => required)
  const message = names.length > 1 ? `is required: turn on one of ${names.join(', ')}` : 'must be on'
  return names.map((path) => ({ group: 'missing', path, message }))
}

function toProblem(
  error: ErrorObject,
  level: LevelKind,
  schema: SettingsSchema,
  isStored: (name: string) => boolean,
): Found {
  const { keyword, params, data } = error
  const path = error.instancePath.slice(1)
  const isSecret = Object.hasOwn(schema.properties, path) && schema.properties[path]?.secret === true
  // Readers and logs get the message. A hint with the nearest choice would tell of the value as well.
  const isHidden = isSecret || isStored(path)
  const found = isHidden ? 'found another value' : `found ${quoteValue(data)}`
  const wrong = (message: string): Found => ({ group: 'wrong', path, message })
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      const hint = hintForName(name, Object.keys(schema.properties), 'settings')
      const message = `there is no setting ${quoteValue(name)} for the ${level}; ${hint}`
      return { group: 'unknown', path: name, message }
    }
    case 'required':
      return missing(String(params.missingProperty), schema)
    case 'minLength':
      return missing(path, schema)
    case 'type':
      return wrong(`must be ${kinds[String(params.type)]}, ${found}`)
    case 'minimum':
    case 'maximum':
      return wrong(`must lie within ±${Number.MAX_SAFE_INTEGER}, ${found}`)
    case 'maxLength':
      return wrong(
        isHidden
          ? `must have at most ${params.limit} characters`
          : `has ${String(data).length} characters; at most ${params.limit} are allowed`,
      )
    case 'format':
      return wrong(`must be a web address that begins with http:// or https://, ${found}`)
    case 'enum':
      return wrong(
        isHidden
          ? `must be one of its choices, ${found}; ${listNames(params.allowedValues)}`
          : `cannot be ${quoteValue(data)}; ${hintForName(String(data), params.allowedValues)}`,
      )
    default:
      return wrong(`is not valid, ${found}`)
  }
}

const kinds: Record<string, string> = { string: 'text', number: 'a number', boolean: 'true or false' }

function missing(path: string, { properties }: SettingsSchema): Found {
  const isButton = properties[path]?.button === true
  return { group: 'missing', path, message: isButton ? 'is required: connect first' : 'is required' }
}
