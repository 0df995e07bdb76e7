import { fileURLToPath } from 'node:url'
import type { ErrorObject } from 'ajv'
import { createCheck } from '../../../schemas/create-check.ts'
import schema from '../../../schemas/manifest.schema.json' with { type: 'json' }
import { hintForName, quoteValue } from '../message-text.ts'
import { fromPointer, toPointerStep } from '../positions.ts'
import type { Finding } from '../problem.ts'
import { findStoreReference } from '../secrets.ts'
import { whyUnreadable } from '../shown-text.ts'

/** Compares data with the schema of the manifest: one finding for each mistake. */
export function checkSchema(data: unknown): Finding[] {
  const validate = validator()
  if (validate(data)) return []
  const findings = (validate.errors ?? []).map(toFinding).filter((finding) => finding !== undefined)
  const seen = new Set<string>()
  return findings
    .filter(({ pointer, at, message }) => {
      const mistake = `${pointer} ${at} ${message}`
      return !seen.has(mistake) && seen.add(mistake)
    })
    .map((finding) =>
      isOfEnvs(finding) || isOfDirective(finding) ? { ...finding, severity: 'warning' } : finding,
    )
}

/** Scopes that the other platform once had. What they permitted is no longer there. */
const withdrawnScopes: ReadonlySet<unknown> = new Set([
  'space:script:inject',
  'space:script:cookies',
  'space:views:read',
  'space:visitor:auth',
])

/** "envs" has no effect yet. */
const isOfEnvs = ({ pointer }: Finding): boolean => pointer === '/envs' || pointer.startsWith('/envs/')

/** No name of a directive has that form. */
const isOfDirective = ({ pointer, at }: Finding): boolean =>
  at === 'key' && pointer.startsWith('/contentSecurityPolicy/')

const validator = createCheck(schema, {
  allErrors: true,
  // The messages quote the data and the schema.
  verbose: true,
  discriminator: true,
  allowUnionTypes: true,
  strictRequired: false,
  keywords: ['x-expected'],
  formats: {
    from: fileURLToPath(new URL('../settings/settings-schema.ts', import.meta.url)),
    name: 'formats',
  },
})

const kinds: Record<string, string> = {
  array: 'a list',
  object: 'a map',
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  null: 'nothing',
}

// The failed keyword determines the type of `data`.
type Narrowed = Omit<ErrorObject, 'data'> & { data: { type?: unknown; length: number } & object }

/** Turns an error of Ajv into a sentence, unless another error says the same. */
function toFinding(error: ErrorObject): Finding | undefined {
  const { instancePath: pointer, keyword, params, data } = error as Narrowed
  const name = describe(pointer)
  const wrong = (message: string, hint?: string): Finding => ({ pointer, at: 'value', message, hint })
  const limit = Number(params.limit)
  switch (keyword) {
    case 'required':
    case 'dependentRequired': {
      const missing = String(params.missingProperty)
      const where = pointer === '' ? '' : ` in ${name}`
      return {
        pointer,
        at: 'key',
        message: `"${missing}" is missing${where}`,
        hint: meaningOf(error, missing),
      }
    }
    case 'additionalProperties': {
      const unknown = String(params.additionalProperty)
      const where = pointer === '' ? '' : ` in ${name}`
      return {
        pointer: pointer + toPointerStep(unknown),
        at: 'key',
        message: `unknown field ${quoteValue(unknown)}${where}`,
        hint: hintForName(unknown, Object.keys(error.parentSchema?.properties ?? {})),
      }
    }
    case 'enum': {
      if (pointer.startsWith('/scopes/') && withdrawnScopes.has(data)) {
        const message = `the scope ${quoteValue(data)} permits nothing any more: it is left out`
        return { ...wrong(message, 'remove it'), severity: 'warning' }
      }
      const allowed = (params.allowedValues as unknown[]).map(String)
      return wrong(`${name} cannot be ${quoteValue(data)}`, hintForName(String(data), allowed))
    }
    case 'discriminator': {
      if (data?.type === undefined)
        return { pointer, at: 'key', message: `"type" is missing in ${name}`, hint: typesHint('') }
      const type = data.type
      return {
        pointer: `${pointer}/type`,
        at: 'value',
        message: `${name} cannot be of type ${quoteValue(type)}`,
        hint: typesHint(String(type)),
      }
    }
    case 'type': {
      const types: string[] = [params.type].flat()
      // Ajv refuses Infinity and NaN as numbers.
      const kindsHere = typeof data === 'number' ? { ...kinds, number: 'a finite number' } : kinds
      const expected = types.map((type) => kindsHere[type] ?? type).join(' or ')
      const isScalar = typeof data !== 'object' || data === null
      return {
        ...wrong(`${name} must be ${expected}, found ${kindOf(data)}`),
        ...(isScalar && types.includes('string') && { wantsText: true }),
      }
    }
    case 'pattern': {
      const found = error.propertyName ?? data
      const store = /(^|\/)secrets\/[^/]+$/.test(pointer) ? findStoreReference(data) : undefined
      if (store !== undefined) {
        return wrong(
          `${name} names ${quoteValue(store)} in a password store, which Annex does not read`,
          storeHint(fromPointer(pointer).at(-1) ?? ''),
        )
      }
      const finding = wrong(
        `${error.propertyName === undefined ? name : 'the name'} cannot be ${quoteValue(found)}`,
        `expected: ${error.parentSchema?.['x-expected'] ?? params.pattern}`,
      )
      return error.propertyName === undefined ? finding : atKey(finding, error.propertyName)
    }
    case 'minLength':
      return wrong(`${name} is empty`)
    case 'maxLength': {
      if (error.propertyName !== undefined) {
        return atKey(
          wrong(`the name ${quoteValue(error.propertyName)} has more than ${limit} characters`),
          error.propertyName,
        )
      }
      return wrong(`${name} has ${[...String(data)].length} characters; at most ${limit} are allowed`)
    }
    case 'minimum':
    case 'maximum':
      // JavaScript rounds such a number: the frame shows it as written.
      return wrong(`${name} must lie within ±${Math.abs(limit)}`)
    case 'maxItems':
      return wrong(`${name} has ${data.length} entries; at most ${limit} are allowed`)
    case 'minItems':
      return wrong(`${name} is an empty list`)
    case 'maxProperties':
      return wrong(`${name} has ${Object.keys(data).length} entries; at most ${limit} are allowed`)
    case 'minProperties':
      return {
        pointer,
        at: 'key',
        message: `${name} is empty`,
        hint: 'expected: "properties", or "componentId"',
      }
    case 'format':
      if (params.format === 'readable')
        return wrong(`${name} ${whyUnreadable(String(data))}`, `found: ${quoteValue(data)}`)
      return wrong(`${name} cannot be ${quoteValue(data)}`, 'expected: an http or https address')
    case 'false schema': {
      const other = error.schemaPath.includes('componentId') ? 'componentId' : 'enum'
      return {
        pointer,
        at: 'key',
        message: `${name} cannot stand beside "${other}"`,
        hint: 'keep one of them',
      }
    }
    // `checkDuplicates` reports each duplicate; Ajv reports one pair.
    case 'uniqueItems':
    // Ajv reports the cause as an error of its own.
    case 'propertyNames':
      return undefined
    default:
      return wrong(`${name} ${error.message ?? 'is not allowed'}`)
  }
}

/** docs/secrets.md describes this way, and no other. */
const storeHint = (secret: string): string => {
  const variable = /^[A-Za-z_]\w*$/.test(secret) ? secret.toUpperCase() : 'API_KEY'
  return `name a variable, such as "\${{ env.${variable} }}", and let the password store's own command set it: docs/secrets.md`
}

const typesHint = (found: string) => hintForName(found, ['string', 'number', 'boolean', 'button'])

const atKey = (finding: Finding, key: string): Finding => ({
  ...finding,
  pointer: finding.pointer + toPointerStep(key),
  at: 'key',
})

/** The schema's description of a missing field. */
function meaningOf(error: ErrorObject, field: string): string | undefined {
  const properties: Record<string, { description?: string } | undefined> =
    error.parentSchema?.properties ?? {}
  const description = properties[field]?.description
  return description === undefined ? undefined : `"${field}": ${description}`
}

const kindOf = (data: unknown): string =>
  data === null || typeof data === 'object' || typeof data === 'boolean'
    ? quoteValue(data)
    : `${kinds[typeof data] ?? ''} ${quoteValue(data)}`.trim()

/** The name of a value in a sentence: `"title"`, `"blocks" no. 2 › "id"`, `the manifest`. */
function describe(pointer: string): string {
  if (pointer === '') return 'the manifest'
  return fromPointer(pointer)
    .map((step) => (/^\d+$/.test(step) ? ` no. ${Number(step) + 1}` : ` › ${quoteValue(step)}`))
    .join('')
    .slice(3)
}
