import type { OpenApi, Schema } from './openapi.ts'

export type Field = { name: string; schema: Schema; isRequired: boolean }

/** The fields of a record, and those of the records that it consists of. */
export function fieldsOf(schema: Schema, document: OpenApi): Field[] {
  const { $ref, allOf, properties = {}, required = [] } = schema
  if (typeof $ref === 'string') return fieldsOf(document.components.schemas?.[nameOf($ref)] ?? {}, document)
  if (Array.isArray(allOf)) return allOf.flatMap((part: Schema) => fieldsOf(part, document))
  return Object.entries(properties as Record<string, Schema>).map(([name, inner]) => ({
    name,
    schema: inner,
    isRequired: (required as string[]).includes(name),
  }))
}

export const nameOf = (ref: string): string => ref.split('/').at(-1) ?? ''

/** The type of a value, and its limits: `string, length at most 200`. */
export function toLimits(schema: Schema): string {
  const limits = Object.entries(limitNames)
    .filter(([keyword]) => schema[keyword] !== undefined)
    .map(([keyword, text]) => `${text} ${schema[keyword]}`)
  const kind = schema.type === undefined ? 'any' : [schema.type].flat().join(' or ')
  return [kind, ...limits].join(', ')
}

const limitNames: Readonly<Record<string, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  minLength: 'length at least',
  maxLength: 'length at most',
  maxItems: 'items at most',
  maxProperties: 'fields at most',
  default: 'default',
}

const mostCharacters = 110

/** JSON with each value on one line where it fits. */
export function toJson(value: unknown, indent = ''): string {
  const line = JSON.stringify(value, null, 1)?.replaceAll(/\n\s*/g, ' ') ?? 'null'
  if (line.length + indent.length <= mostCharacters || typeof value !== 'object' || value === null)
    return line
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => inner + toJson(item, inner)).join(',\n')}\n${indent}]`
  }
  const fields = Object.entries(value).map(
    ([name, field]) => `${inner}${JSON.stringify(name)}: ${toJson(field, inner)}`,
  )
  return `{\n${fields.join(',\n')}\n${indent}}`
}
