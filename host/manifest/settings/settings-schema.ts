import type { ConfigurationLevel, Property } from '../../../schemas/generated/manifest.ts'

/**
 * One setting. `completion_url`, `button_text` and `callback_url` are annotations for forms: a setting with
 * `callback_url` is a button, and any value of it is valid, as scripts store credentials in a form of their own.
 */
export type SettingSchema = {
  type?: 'string' | 'number' | 'boolean'
  title?: string
  description?: string
  default?: string | number | boolean
  enum?: string[]
  format?: 'uri'
  minLength?: 1
  maxLength?: number
  minimum?: number
  maximum?: number
  completion_url?: string
  button_text?: string
  callback_url?: string
}

/** `required` has the settings without a default: a default stands in for a missing value. */
export type SettingsSchema = {
  type: 'object'
  properties: Record<string, SettingSchema>
  required: string[]
  /** Of the settings in `requiredAny`, one is on. */
  anyOf?: { properties: Record<string, { const: true }>; required: string[] }[]
  additionalProperties: boolean
  /** The component that asks for the settings. Any setting is valid then. */
  componentId?: string
}

/** Of JSON Schema, these keywords are ours. */
export const annotations = ['componentId', 'completion_url', 'button_text', 'callback_url']

const maxTextLength = 10_000
/** Beyond them JSON and JavaScript round. */
const exactNumbers = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }

/** A level of `configurations` as a JSON Schema (2020-12): for forms, for the check of values, and for types. */
export function settingsSchema(level: ConfigurationLevel | undefined): SettingsSchema {
  const declared = Object.entries(level?.properties ?? {})
  const required = (level?.required ?? []).filter((name) =>
    declared.some(([other, property]) => other === name && defaultOf(property) === undefined),
  )
  return {
    type: 'object',
    properties: Object.fromEntries(
      declared.map(([name, property]) => [name, settingSchema(property, required.includes(name))]),
    ),
    required,
    ...(level?.requiredAny !== undefined && {
      anyOf: level.requiredAny.map((name) => ({ properties: { [name]: { const: true } }, required: [name] })),
    }),
    additionalProperties: level?.componentId !== undefined,
    ...(level?.componentId !== undefined && { componentId: level.componentId }),
  }
}

function settingSchema(property: Property, isRequired: boolean): SettingSchema {
  // A form sends an empty text for a field that was left empty.
  const notEmpty = isRequired ? { minLength: 1 as const } : {}
  if (property.type === 'button') {
    const { type: _, ...annotated } = property
    return { ...annotated, ...notEmpty }
  }
  if (property.type === 'boolean') return { ...property }
  if (property.type === 'number') return { ...property, ...exactNumbers }
  return { ...property, ...notEmpty, ...(property.enum === undefined && { maxLength: maxTextLength }) }
}

export const defaultOf = (property: Property): string | number | boolean | undefined =>
  property.type === 'button' ? undefined : property.default
