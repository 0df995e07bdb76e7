import { hash } from 'node:crypto'
import compiler from 'json-schema-to-typescript/package.json' with { type: 'json' }
import type { ConfigurationLevel, Manifest } from '../../../schemas/generated/manifest.ts'
import { toVisible } from '../message-text.ts'
import { type SettingSchema, settingsSchema } from './settings-schema.ts'

/** Increase it when the same schema results in another text. */
const typesFormat = 1

/**
 * The text of `generated/integration.ts` in a plugin folder. The compiler blocks its thread: 0.2 s to load, and 0.2 s for
 * a large manifest. So the `current` text is returned when it begins with the digest of the same schema.
 */
export async function compileTypes(manifest: Manifest, current = ''): Promise<string> {
  const schema = typesSchema(manifest)
  const header = toHeader(schema)
  if (current.startsWith(header)) return current
  const { compile } = await import('json-schema-to-typescript')
  const text = await compile(schema as Parameters<typeof compile>[0], 'Integration', {
    bannerComment: header,
    additionalProperties: false,
    unknownAny: true,
    // Prettier would take ten times as long.
    format: false,
    // A `$ref` must not read files or addresses.
    $refOptions: { resolve: { external: false } },
  })
  return indent(text)
}

function toHeader(schema: TypesSchema): string {
  const digest = hash('sha256', JSON.stringify([typesFormat, compiler.version, schema]))
  return `// Generated from the manifest by \`annex types\`. Do not edit: edit the manifest.\n// sha256:${digest}`
}

/** Indents lines by the depth of braces. Lines of comments begin with a star; their braces do not count. */
function indent(text: string): string {
  let depth = 0
  let indented = ''
  for (const line of text.split('\n')) {
    const isComment = line.trim().startsWith('*')
    if (!isComment && line.startsWith('}')) depth -= 1
    if (line !== '' || depth === 0) indented += `${'  '.repeat(depth)}${line}\n`
    if (!isComment && line.endsWith('{')) depth += 1
  }
  return `${indented.trim()}\n`
}

/** The part of JSON Schema that the types of an integration use. */
type TypesSchema = {
  type?: string
  description?: string
  properties?: Record<string, TypesSchema>
  required?: string[]
  additionalProperties?: boolean
  enum?: string[]
  /** A keyword of json-schema-to-typescript. */
  tsType?: 'never'
}

/** The JSON Schema of the type argument of `createIntegration`. */
function typesSchema({ name, scopes, secrets, configurations }: Manifest): TypesSchema {
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

/** A setting with a default is always present; a required one is present in an active installation. */
function settings(level: ConfigurationLevel | undefined): TypesSchema {
  const { properties, required, additionalProperties } = settingsSchema(level)
  const withDefault = Object.keys(properties).filter((name) => properties[name]?.default !== undefined)
  const buttons = Object.values(properties).filter(isButton)
  return {
    ...closed(
      {
        // The OAuth handler stores credentials under this name, whatever the button's name is.
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

const isButton = ({ button }: SettingSchema): boolean => button === true

/** A script may store other fields of the provider's answer, too. */
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
