import { hash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { ConfigurationLevel } from '../../../schemas/generated/manifest.ts'
import { keepLast } from '../../keep-last.ts'
import { isWebAddress } from '../checks/web-address.ts'
import { quoteValue } from '../message-text.ts'
import { hintForName } from '../nearest-name.ts'
import { annotations, type SettingsSchema, settingsSchema } from './settings-schema.ts'

export type Level = 'account' | 'site' | 'space'
export type Configuration = Record<string, unknown>

/** What is wrong with one setting. `missing`: nothing wrong was given, but the level is not complete without it. */
export type SettingProblem = { path: string; message: string; kind: 'invalid' | 'missing' }

const load = createRequire(import.meta.url)

/** At most 30 ms of CPU time each: for a manifest with 200 settings of 100 choices. */
const maxKeptChecks = 200
const checks = new Map<string, ValidateFunction>()

/** Each setting that is unknown, wrong or missing, once. */
export function findSettingProblems(
  declared: ConfigurationLevel | undefined,
  level: Level,
  configuration: Configuration,
): Record<'unknown' | 'wrong' | 'missing', SettingProblem[]> {
  const schema = settingsSchema(declared)
  const check = toCheck(schema)
  const problems: Record<'unknown' | 'wrong' | 'missing', SettingProblem[]> = {
    unknown: [],
    wrong: [],
    missing: [],
  }
  if (check(configuration)) return problems
  const found = check.errors?.flatMap((error) => toProblems(error, level, schema)) ?? []
  const seen = new Set<string>()
  // A wrong value is not missing as well.
  for (const group of ['unknown', 'wrong', 'missing'] as const) {
    for (const { path, message } of found.filter((problem) => problem.group === group)) {
      if (seen.has(path)) continue
      seen.add(path)
      problems[group].push({ path, message, kind: group === 'missing' ? 'missing' : 'invalid' })
    }
  }
  return problems
}

function toCheck(schema: SettingsSchema): ValidateFunction {
  const key = hash('sha256', JSON.stringify(schema))
  const check = checks.get(key) ?? compile(schema)
  keepLast(checks, key, check, maxKeptChecks)
  return check
}

/** An instance for each schema: Ajv keeps whatever it has compiled. */
function compile(schema: SettingsSchema): ValidateFunction {
  // Loaded only here: it takes a fortieth of a second.
  const { Ajv2020 } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const ajv = new Ajv2020({
    allErrors: true,
    // The messages name the value, and the choices.
    verbose: true,
    messages: false,
    // A setting may be called `toString`, and is not given where it is only inherited.
    ownProperties: true,
    // Unrolled, hundreds of choices take six times as long to compile.
    loopEnum: 1,
    // A button has no type, and yet a required one is not an empty text.
    strictTypes: false,
    meta: false,
    validateSchema: false,
    keywords: annotations,
    formats: { uri: (text: string) => text === '' || isWebAddress(text) },
  })
  return ajv.compile(schema)
}

type Found = { group: 'unknown' | 'wrong' | 'missing'; path: string; message: string }

function toProblems(error: ErrorObject, level: Level, schema: SettingsSchema): Found[] {
  if (error.schemaPath.startsWith('#/anyOf/')) return []
  if (error.keyword !== 'anyOf') return [toProblem(error, level, schema)]
  const names = (schema.anyOf ?? []).flatMap(({ required }) => required)
  const message = names.length > 1 ? `is required: turn on one of ${names.join(', ')}` : 'must be on'
  return names.map((path) => ({ group: 'missing', path, message }))
}

function toProblem(error: ErrorObject, level: Level, schema: SettingsSchema): Found {
  const { keyword, params, data } = error
  const path = error.instancePath.slice(1)
  const found = `found ${quoteValue(data)}`
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
      return wrong(`has ${String(data).length} characters; at most ${params.limit} are allowed`)
    case 'format':
      return wrong(`must be a web address that begins with http:// or https://, ${found}`)
    case 'enum':
      return wrong(`cannot be ${quoteValue(data)}; ${hintForName(String(data), params.allowedValues)}`)
    default:
      return wrong(`is not valid, ${found}`)
  }
}

const kinds: Record<string, string> = { string: 'text', number: 'a number', boolean: 'true or false' }

function missing(path: string, { properties }: SettingsSchema): Found {
  const isButton = properties[path]?.callback_url !== undefined
  return { group: 'missing', path, message: isButton ? 'is required: connect first' : 'is required' }
}
