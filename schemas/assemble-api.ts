import type { ApiFile, OpenApi, OperationObject, Schema, Shared } from './openapi.ts'

const sections = {
  $defs: 'schemas',
  responses: 'responses',
  parameters: 'parameters',
  headers: 'headers',
} as const

/** Maps `spaces#/$defs/Space` of a file to `#/components/schemas/Space`: names are unique in all files. */
const toComponent = (ref: string): string =>
  ref.replace(/^[^#]*#\/(\$defs|responses|parameters|headers)\//, (_all, section: keyof typeof sections) => {
    return `#/components/${sections[section]}/`
  })

/** Copies a JSON value, with `$ref` mapped. */
function mapRefs(value: unknown, map: (ref: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapRefs(item, map))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => {
    return [key, key === '$ref' && typeof inner === 'string' ? map(inner) : mapRefs(inner, map)]
  })
  return Object.fromEntries(entries)
}

/** Assembles the OpenAPI document of all files. It adds common answers, and examples from those of the records. */
export function assembleApi(files: ApiFile[]): OpenApi {
  const components: OpenApi['components'] = { schemas: {}, responses: {}, parameters: {}, headers: {} }
  const paths: OpenApi['paths'] = {}
  for (const given of files) {
    const file = mapRefs(given, toComponent) as ApiFile
    for (const [section, name] of Object.entries(sections)) {
      addAll(components[name] ?? {}, file[section as keyof Shared] ?? {}, file.$id)
    }
    for (const [path, item] of Object.entries(file.paths ?? {})) {
      const operations = Object.entries(item).map(([method, operation]) => {
        return [method, withCommonAnswers(path, { ...operation, tags: [file.title] })]
      })
      addAll(paths, { [path]: Object.fromEntries(operations) }, file.$id)
    }
  }
  const tags = files
    .filter(({ paths }) => paths !== undefined)
    .map(({ title, description }) => ({ name: title, description }))
  const given = components.schemas ?? {}
  const schemas = Object.fromEntries(
    Object.entries(given).map(([name, schema]): [string, Schema] => [
      name,
      schema.examples === undefined ? schema : { ...schema, examples: [exampleOf(schema, given)] },
    ]),
  )
  const described = withExamples(paths, schemas) as OpenApi['paths']
  const responses = withExamples(components.responses, schemas) as Record<string, Schema>
  return {
    openapi: '3.1.0',
    info: {
      title: 'Annex',
      version: '1',
      description:
        'Integrations, their installations, events and deliveries, and the records of the platform.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    tags,
    paths: described,
    components: {
      ...reachable(described, { ...components, schemas, responses }),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        // Its name says whether the cookie is secure, and the port: docs/access.md.
        session: { type: 'apiKey', in: 'cookie', name: '__Host-annex_session' },
      },
    },
  }
}

function addAll(to: Record<string, unknown>, from: object, file: string): void {
  for (const [name, value] of Object.entries(from)) {
    if (Object.hasOwn(to, name)) throw new Error(`schemas/api/${file}: ${name} stands in another file too`)
    to[name] = value
  }
}

const ifMatch = '#/components/parameters/IfMatch'

/** Adds the errors that follow from the fields of an operation. Other errors stand in the file. */
function withCommonAnswers(path: string, operation: OperationObject): OperationObject {
  const { parameters, requestBody, responses, 'x-annex-roles': roles } = operation
  const isOpen = roles.includes('anyone')
  const isConditional = parameters?.some((given) => '$ref' in given && given.$ref === ifMatch) ?? false
  const common = {
    400: 'BadRequest',
    // A session is refused to requests of other sites, whatever its role.
    ...(!isOpen && { 401: 'Unauthorized', 403: 'Forbidden' }),
    // A session may name an organization that it may not see.
    ...((!isOpen || path.includes('{')) && { 404: 'NotFound' }),
    ...(isConditional && { 412: 'PreconditionFailed', 428: 'PreconditionRequired' }),
    ...(requestBody !== undefined && { 413: 'BodyTooLarge', 415: 'EncodingUnsupported', 422: 'BodyInvalid' }),
    429: 'TooManyRequests',
    default: 'Failed',
  }
  const added = Object.entries(common)
    .filter(([status]) => !Object.hasOwn(responses, status))
    .map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }])
  return {
    ...operation,
    responses: { ...responses, ...Object.fromEntries(added) },
    ...(isOpen && { security: [] }),
  }
}

/** Gives each JSON body and answer without an example one that is made from its schema. */
function withExamples(value: unknown, schemas: Record<string, Schema>): unknown {
  if (Array.isArray(value)) return value.map((item) => withExamples(item, schemas))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
    if (key !== 'application/json') return [key, withExamples(inner, schemas)]
    const { schema, example } = inner as { schema: Schema; example?: unknown }
    return [key, { schema, example: example ?? exampleOf(schema, schemas) }]
  })
  return Object.fromEntries(entries)
}

/**
 * The first of a schema's `examples`, with a value of each required property that it lacks.
 *
 * @param within the references on the way. A list in a record of its own kind is empty.
 */
function exampleOf(schema: Schema, schemas: Record<string, Schema>, within: readonly string[] = []): unknown {
  const { $ref, examples, allOf, anyOf, oneOf, items, properties = {}, required = [] } = schema
  const make = (part: Schema) => exampleOf(part, schemas, within)
  const [given] = Array.isArray(examples) ? examples : []
  if (given !== undefined && (schema.type !== 'object' || typeof given !== 'object')) return given
  if (typeof $ref === 'string') {
    if (within.includes($ref)) return undefined
    return exampleOf(schemas[$ref.split('/').at(-1) ?? ''] ?? {}, schemas, [...within, $ref])
  }
  if (Array.isArray(allOf)) return Object.assign({}, ...allOf.map(make))
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) return make(choices[0])
  if (items !== undefined) return [make(items as Schema)].filter((item) => item !== undefined)
  if (schema.type !== 'object') return exampleOfText(schema)
  const missing = (required as string[]).filter((name) => !Object.hasOwn(given ?? {}, name))
  const made = missing.map((name) => [name, make((properties as Record<string, Schema>)[name] ?? {})])
  return { ...given, ...Object.fromEntries(made) }
}

const texts: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00.000Z',
  date: '2026-01-01',
  uri: 'https://example.com/',
}

function exampleOfText({ const: value, enum: values, type, minimum = 1, format }: Schema): unknown {
  if (value !== undefined) return value
  if (Array.isArray(values)) return values[0]
  const [kind] = [type].flat()
  if (kind === 'integer' || kind === 'number') return minimum
  if (kind === 'null') return null
  return kind === 'boolean' ? false : (texts[`${format}`] ?? 'text')
}

/** The components that a value refers to, directly or by other components. */
function reachable(from: unknown, components: OpenApi['components']): OpenApi['components'] {
  const found: OpenApi['components'] = {}
  const visit = (value: unknown) =>
    mapRefs(value, (ref) => {
      const [, , section = '', name = ''] = ref.split('/')
      const component = components[section]?.[name]
      if (component === undefined) throw new Error(`schemas/api: there is no ${ref}`)
      found[section] ??= {}
      if (found[section][name] !== undefined) return ref
      found[section][name] = component
      visit(component)
      return ref
    })
  visit(from)
  return found
}

/** A schema of the document that needs nothing else: what it refers to is in its `$defs`. */
export function standAlone(schema: Schema, { components }: Pick<OpenApi, 'components'>): Schema {
  const { schemas = {} } = reachable(schema, components)
  const toDefinition = (ref: string) => ref.replace('#/components/schemas/', '#/$defs/')
  return mapRefs({ ...schema, $defs: schemas }, toDefinition) as Schema
}
