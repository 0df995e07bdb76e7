import type { ConfigurationLevel, Manifest, Property } from '../../../schemas/generated/manifest.ts'
import { toVisible } from '../problems/visible-text.ts'

/**
 * The text of `generated/integration.ts` in a plugin folder: the type that `createIntegration` is
 * parametrised with, so that a wrong setting name in the script is a compile error.
 */
export function generateTypes(manifest: Manifest): string {
  const { account, site, space } = manifest.configurations ?? {}
  return `// Generated from the manifest by \`annex types\`. Do not edit: edit the manifest.

/** What the manifest of this integration declares, for \`createIntegration<Integration>({ … })\`. */
export type Integration = {
  name: ${toLiteral(manifest.name)}
  settings: {
    account: ${toLevelType(account)}
    site: ${toLevelType(site)}
    space: ${toLevelType(space)}
  }
  secrets: ${toMapType(
    Object.keys(manifest.secrets ?? {}).map((name) => ({ name, type: 'string', required: true })),
    '  ',
  )}
  scopes: ${toUnion(manifest.scopes)}
}
`
}

type Field = { name: string; type: string; required: boolean; comment?: string }

function toLevelType(level: ConfigurationLevel | undefined): string {
  // A component asks for the settings: what they are, only its script knows.
  if (level?.componentId !== undefined) return '{ [name: string]: unknown }'
  const fields = Object.entries(level?.properties ?? {}).map(([name, property]) => ({
    name,
    type: toPropertyType(property),
    required: level?.required?.includes(name) ?? false,
    comment: [property.title, property.description].filter((text) => text !== undefined).join('. '),
  }))
  return toMapType(fields, '    ')
}

function toPropertyType(property: Property): string {
  switch (property.type) {
    case 'string':
      return property.enum === undefined ? 'string' : toUnion(property.enum)
    case 'button':
      // What the OAuth handler stores; a script may store more of the provider's answer beside it.
      return '{ access_token?: string; refresh_token?: string; expires_at?: number; [name: string]: unknown }'
    default:
      return property.type
  }
}

function toMapType(fields: Field[], indent: string): string {
  if (fields.length === 0) return '{}'
  const rows = fields.flatMap(({ name, type, required, comment = '' }) => [
    ...(comment === '' ? [] : [`${indent}  /** ${toCommentText(comment)} */`]),
    `${indent}  ${toKey(name)}${required ? '' : '?'}: ${type}`,
  ])
  return `{\n${rows.join('\n')}\n${indent}}`
}

const toUnion = (values: readonly string[]): string =>
  values.length === 0 ? 'never' : [...new Set(values)].map(toLiteral).join(' | ')

const toKey = (name: string): string => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : toLiteral(name))

/** A TypeScript string literal. Backslashes, quotes and line breaks of a hostile manifest stay inside it. */
function toLiteral(text: string): string {
  const json = JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  return `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** Text within a doc comment: one line, and nothing in it ends the comment. */
const toCommentText = (text: string): string =>
  toVisible(text.trim().replace(/\s+/g, ' ')).replaceAll('*/', '*\\/').replace(/\*$/, '* ')
