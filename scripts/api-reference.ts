import type { Api, Operation } from '../schemas/api.ts'
import type { Answer, OpenApi, Parameter, Schema } from '../schemas/openapi.ts'

/** The reference of the API in Markdown: each operation by its resource, then the records that they name. */
export function createApiReference({ document, operations }: Api): string {
  const byTag = Map.groupBy(operations, ({ tag }) => tag)
  const tags = document.tags.flatMap(({ name, description }) => [
    `## ${name}`,
    description,
    ...(byTag.get(name) ?? []).flatMap(toOperation),
  ])
  const { schemas = {} } = document.components
  const records = Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const all = [
    ...tags,
    '## Records',
    ...records.flatMap(([name, schema]) => toRecord(name, schema, document)),
  ]
  return all.join('\n\n')
}

function toOperation(operation: Operation): string[] {
  const { id, method, path, summary, description, scope, roles, body } = operation
  const parameters = [...operation.pathParameters, ...operation.queryParameters]
  const answers = Object.entries(operation.answers)
  const successes = answers.filter(([status]) => status.startsWith('2'))
  const errors = answers.filter(([status]) => !status.startsWith('2') && status !== 'default')
  const facts = [
    `Operation \`${id}\``,
    roles.includes('anyone') ? 'without a token' : `roles ${roles.join(', ')}`,
    ...(scope === undefined ? [] : [`scope \`${scope}\``]),
  ]
  return [
    `### ${summary}`,
    `\`${method} ${path}\``,
    ...(description === '' ? [] : [description]),
    `${facts.join('; ')}.`,
    ...(parameters.length === 0 ? [] : [toParameters(parameters)]),
    [
      ...(body === undefined ? [] : [`- Body: ${typeOf(body)}`]),
      ...successes.map(([status, answer]) => `- ${status}: ${answer.description}${toAnswerType(answer)}`),
      `- Errors: ${errors.map(([status]) => status).join(', ')}`,
    ].join('\n'),
    toExample(operation),
  ]
}

const toAnswerType = ({ content = {} }: Answer): string => {
  const [[type, { schema }] = ['', {}]] = Object.entries(content) as [string, { schema?: Schema }][]
  if (type === '') return ''
  return type === 'application/json' && schema !== undefined ? ` ${typeOf(schema)}` : ` \`${type}\``
}

const toParameters = (parameters: readonly Parameter[]): string =>
  [
    '| parameter | in | type | |',
    '|---|---|---|---|',
    ...parameters.map(
      ({ name, in: place, schema, description = '' }) =>
        `| \`${name}\` | ${place} | ${typeOf(schema)} | ${description} |`,
    ),
  ].join('\n')

/** The request, and the answer where it is JSON. */
function toExample({ method, path, body, bodyExample, answers, success }: Operation): string {
  const answer = answers[success]?.content?.['application/json']?.example
  const lines = [
    `${method} ${path}`,
    ...(body === undefined ? [] : [toJson(bodyExample)]),
    '',
    `${success}`,
    ...(answer === undefined ? [] : [toJson(answer)]),
  ]
  return ['```http', ...lines, '```'].join('\n')
}

function toRecord(name: string, schema: Schema, document: OpenApi): string[] {
  const fields = fieldsOf(schema, document)
  const rows = fields.map(({ name: field, schema: inner, isRequired }) => {
    const text = inner.description ?? ''
    return `| \`${field}\`${isRequired ? '' : '?'} | ${typeOf(inner)} | ${text} |`
  })
  return [
    `### ${name}`,
    `${schema.description ?? ''}${fields.length === 0 ? ` ${typeOf(schema)}` : ''}`,
    ...(rows.length === 0 ? [] : [['| field | type | |', '|---|---|---|', ...rows].join('\n')]),
  ].filter((part) => part.trim() !== '')
}

type Field = { name: string; schema: Schema; isRequired: boolean }

function fieldsOf(schema: Schema, document: OpenApi): Field[] {
  const { $ref, allOf, properties = {}, required = [] } = schema
  if (typeof $ref === 'string') return fieldsOf(document.components.schemas?.[nameOf($ref)] ?? {}, document)
  if (Array.isArray(allOf)) return allOf.flatMap((part: Schema) => fieldsOf(part, document))
  return Object.entries(properties as Record<string, Schema>).map(([name, inner]) => ({
    name,
    schema: inner,
    isRequired: (required as string[]).includes(name),
  }))
}

const nameOf = (ref: string): string => ref.split('/').at(-1) ?? ''

/** A schema in a few words. A record is a link. */
function typeOf(schema: Schema): string {
  const { $ref, const: value, enum: values, anyOf, oneOf, items, type, properties } = schema
  if (typeof $ref === 'string') return `[${nameOf($ref)}](#${nameOf($ref).toLowerCase()})`
  if (value !== undefined) return `\`${JSON.stringify(value)}\``
  if (Array.isArray(values)) return values.map((one) => `\`${one}\``).join(', ')
  const choices: unknown = anyOf ?? oneOf
  if (Array.isArray(choices)) return choices.map(typeOf).join(' or ')
  if (items !== undefined) return `list of ${typeOf(items as Schema)}`
  if (properties !== undefined) {
    return `object: ${Object.keys(properties as object)
      .map((name) => `\`${name}\``)
      .join(', ')}`
  }
  const limits = ['minimum', 'maximum', 'minLength', 'maxLength', 'maxItems', 'maxProperties', 'default']
    .filter((name) => schema[name] !== undefined)
    .map((name) => `${limitNames[name] ?? name} ${schema[name]}`)
  const kind = type === undefined ? 'any' : [type].flat().join(' or ')
  return [kind, ...limits].join(', ')
}

const limitNames: Readonly<Record<string, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  minLength: 'length at least',
  maxLength: 'length at most',
  maxItems: 'items at most',
  maxProperties: 'fields at most',
}

const mostCharacters = 110

/** JSON with each value on one line where it fits. */
function toJson(value: unknown, indent = ''): string {
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
