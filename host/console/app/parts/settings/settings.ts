import { installationTexts as texts } from '../../texts/installation.ts'

/** A setting as its control needs it, from the JSON Schema of the form. */
export type Setting = {
  name: string
  title: string
  description?: string | undefined
  kind: 'text' | 'number' | 'address' | 'toggle' | 'choice' | 'script-choice' | 'secret' | 'button'
  isRequired: boolean
  default?: string | number | boolean | undefined
  choices: string[]
  buttonText?: string | undefined
}

type Property = {
  type?: unknown
  title?: unknown
  description?: unknown
  default?: unknown
  enum?: unknown
  format?: unknown
  secret?: unknown
  button?: unknown
  button_text?: unknown
  completion_url?: unknown
}

/** The settings of a JSON Schema, in the order of the manifest. Those in `anyOf` are required as a group. */
export function toSettings(schema: Record<string, unknown>): Setting[] {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Property>)
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  return properties.map(([name, property]) => ({
    name,
    title: textOf(property.title) ?? name,
    description: textOf(property.description),
    kind: kindOf(property),
    isRequired: required.has(name),
    default: isValue(property.default) ? property.default : undefined,
    choices: Array.isArray(property.enum) ? property.enum.map(String) : [],
    buttonText: textOf(property.button_text),
  }))
}

function kindOf({ type, button, secret, completion_url, enum: choices, format }: Property): Setting['kind'] {
  if (button === true) return 'button'
  if (type === 'boolean') return 'toggle'
  if (type === 'number') return 'number'
  if (secret === true) return 'secret'
  if (typeof completion_url === 'string') return 'script-choice'
  if (Array.isArray(choices)) return 'choice'
  return format === 'uri' ? 'address' : 'text'
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const isValue = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)

/** The component that asks for the settings, in the place of `properties`. */
export const componentOf = (schema: Record<string, unknown>): string | undefined => textOf(schema.componentId)

/** Names come from manifests: `constructor` has no value of its own. */
export const ownValue = (values: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(values, name) ? values[name] : undefined

/** The reason for which a level waits, by the pointer of its setting. */
export const problemOf = (
  problems: readonly { path: string; message: string }[] | undefined,
  name: string,
): string | undefined => problems?.find(({ path }) => path === `/configuration/${name}`)?.message

const numberPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

/** `Number` also takes an empty text, other bases and `Infinity`. */
export function parseNumber(text: string): number | undefined {
  const trimmed = text.trim()
  const number = numberPattern.test(trimmed) ? Number(trimmed) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}

/** A value as a person reads it. */
export function toText(value: unknown): string {
  if (value === true) return texts.settings.on
  if (value === false) return texts.settings.off
  if (value === undefined) return texts.conflict.nothing
  return value === '' ? texts.settings.emptyText : String(value)
}
