import type { ConfigurationLevel, Property } from '../../../schemas/generated/manifest.ts'
import { isReadable } from '../shown-text.ts'

/**
 * One setting. `completion_url`, `secret`, `button`, `button_text` and `callback_url` are annotations for forms. `button` has no
 * `type`: any value is valid, as each script stores its credentials in its own form.
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
  secret?: boolean
  button?: true
  button_text?: string
  callback_url?: string
}

/** `required` has settings without a default only: a default replaces a missing value. */
export type SettingsSchema = {
  type: 'object'
  properties: Record<string, SettingSchema>
  required: string[]
  /** One of the settings in `requiredAny` is on. */
  anyOf?: { properties: Record<string, { const: true }>; required: string[] }[]
  additionalProperties: boolean
  /** The component that asks for the settings. Any setting is valid with it. */
  componentId?: string
}

/** Annex's own keywords. */
export const annotations = [
  'componentId',
  'completion_url',
  'secret',
  'button',
  'button_text',
  'callback_url',
]

/** Installers see links: `javascript:` and similar schemes must not reach them. */
export const isWebAddress = (text: string): boolean => /^https?:\/\/[^\s]/i.test(text) && URL.canParse(text)

/** The formats of the manifest's schema. */
export const formats = { uri: isWebAddress, readable: isReadable }

const maxTextLength = 10_000
/** JavaScript rounds larger numbers. */
const exactNumbers = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }

/** A level of `configurations` as a JSON Schema (2020-12). Forms, the check of values and the types use it. */
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
  // A form sends an empty field as an empty text.
  const notEmpty = isRequired ? { minLength: 1 as const } : {}
  if (property.type === 'button') {
    const { type: _, ...annotated } = property
    return { ...annotated, button: true, ...notEmpty }
  }
  if (property.type === 'boolean') return { ...property }
  if (property.type === 'number') return { ...property, ...exactNumbers }
  return { ...property, ...notEmpty, ...(property.enum === undefined && { maxLength: maxTextLength }) }
}

export const defaultOf = (property: Property): string | number | boolean | undefined =>
  property.type === 'button' ? undefined : property.default
