import type { ConfigurationLevel, Manifest } from '../../../schemas/generated/manifest.ts'
import { toVisible } from '../message-text.ts'
import { type SettingSchema, settingsSchema } from './settings-schema.ts'

/** As much of JSON Schema as the types of an integration need. */
export type TypesSchema = {
  type?: string
  description?: string
  properties?: Record<string, TypesSchema>
  required?: string[]
  additionalProperties?: boolean
  enum?: string[]
  /** The compiler's own keyword. */
  tsType?: 'never'
}

/** A JSON Schema of the type that `createIntegration` is parametrised with: `compile-types.ts` compiles it. */
export function typesSchema({ name, scopes, secrets, configurations }: Manifest): TypesSchema {
  const { account, site, space } = configurations ?? {}
  const ofSecrets = Object.keys(secrets ?? {}).map((secret) => [secret, { type: 'string' }] as const)
  const pending = {
    description:
      'Settings that only an active installation is sure to have: required ones without a default.',
    ...closed({ account: names(account), site: names(site), space: names(space) }),
  }
  return {
    description:
      'What the manifest of this integration declares, for `createIntegration<Integration>({ … })`.',
    ...closed({
      name: choice([name]),
      settings: closed({ account: settings(account), site: settings(site), space: settings(space) }),
      required: pending,
      secrets: closed(Object.fromEntries(ofSecrets)),
      scopes: choice(scopes),
    }),
  }
}

/** A setting with a default is always there, and a required one where the level is active. */
function settings(level: ConfigurationLevel | undefined): TypesSchema {
  const { properties, required, additionalProperties } = settingsSchema(level)
  const withDefault = Object.keys(properties).filter((name) => properties[name]?.default !== undefined)
  const buttons = Object.values(properties).filter(isButton)
  return {
    ...closed(
      {
        // The OAuth handler stores them there, whatever the button is called.
        ...(buttons.length > 0 && { oauth_credentials: credentials(['access_token']) }),
        ...Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, setting(schema)])),
      },
      [...required, ...withDefault],
    ),
    additionalProperties,
  }
}

function setting(schema: SettingSchema): TypesSchema {
  const description = [schema.title, schema.description].filter((text) => text !== undefined).join('. ')
  return {
    ...(description !== '' && { description: toOneLine(description) }),
    ...(isButton(schema)
      ? credentials([])
      : (schema.enum && choice(schema.enum)) || { type: schema.type ?? '' }),
  }
}

const isButton = ({ callback_url }: SettingSchema): boolean => callback_url !== undefined

/** A script may store more of the provider's answer beside them. */
const credentials = (required: string[]): TypesSchema => ({
  ...closed(
    { access_token: { type: 'string' }, refresh_token: { type: 'string' }, expires_at: { type: 'number' } },
    required,
  ),
  additionalProperties: true,
})

const names = (level: ConfigurationLevel | undefined): TypesSchema => choice(settingsSchema(level).required)

const closed = (
  properties: Record<string, TypesSchema>,
  required = Object.keys(properties),
): TypesSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const choice = (values: readonly string[]): TypesSchema =>
  values.length === 0 ? { tsType: 'never' } : { enum: [...new Set(values)] }

const toOneLine = (text: string): string => toVisible(text.trim().replace(/\s+/g, ' '))
