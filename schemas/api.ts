import { readdirSync, readFileSync } from 'node:fs'

/** A JSON Schema (2020-12). */
export type Schema = { [keyword: string]: unknown }

export type Role = 'reader' | 'editor' | 'admin' | 'operator' | 'integration' | 'installation'

/** A parameter of OpenAPI 3.1. */
export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

type Content = Record<string, { schema?: Schema; example?: unknown }>
export type Answer = { description: string; content?: Content; headers?: Schema }

/** An operation of OpenAPI 3.1, with the fields of Annex. */
type OperationObject = {
  operationId: string
  summary: string
  description?: string
  'x-annex-scope'?: string
  'x-annex-roles': (Role | 'anyone')[]
  /** Of the JSON body. Default: 1 MiB. */
  'x-annex-max-body-bytes'?: number
  /** The handler checks the body. */
  'x-annex-body-checked-by-handler'?: boolean
  parameters?: Parameter[]
  requestBody?: { required?: boolean; description?: string; content: Content }
  responses: Record<string, Answer>
  tags?: string[]
  security?: object[]
}

type Shared = {
  $defs?: Record<string, Schema>
  responses?: Record<string, object>
  parameters?: Record<string, object>
}

/** A file of schemas/api: the operations of a resource, and what they share. */
export type ApiFile = Shared & {
  $id: string
  title: string
  description: string
  paths?: Record<string, Record<string, OperationObject>>
}

/** What the host needs of an operation. */
export type Operation = {
  id: string
  method: string
  /** With parameters as `{name}`. */
  path: string
  tag: string
  summary: string
  description: string
  /** The scope that a script's token needs. */
  scope: string | undefined
  roles: readonly (Role | 'anyone')[]
  pathParameters: readonly Parameter[]
  queryParameters: readonly Parameter[]
  /** The schema of the JSON body. */
  body: Schema | undefined
  bodyExample: unknown
  isBodyChecked: boolean
  maxBodyBytes: number
  answers: Readonly<Record<string, Answer>>
  /** The first status of `answers` that is a success. */
  success: number
}

const folder = new URL('./api/', import.meta.url)
const maxJsonBytes = 1024 * 1024
const everyRole = 6

export function readApiFiles(from: URL | string = folder): ApiFile[] {
  const names = readdirSync(from).filter((name) => name.endsWith('.schema.json'))
  const base = from instanceof URL ? from : new URL(`file://${from}/`)
  return names.sort().map((name) => JSON.parse(readFileSync(new URL(name, base), 'utf8')))
}

const sections = { $defs: 'schemas', responses: 'responses', parameters: 'parameters' } as const

/** Maps `spaces#/$defs/Space` of a file to `#/components/schemas/Space`: names are unique in all files. */
const toComponent = (ref: string): string =>
  ref.replace(/^[^#]*#\/(\$defs|responses|parameters)\//, (_all, section: keyof typeof sections) => {
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

export type OpenApi = {
  paths: Record<string, Record<string, OperationObject>>
  components: { [section: string]: Record<string, Schema> }
  [field: string]: unknown
}

/** Assembles the OpenAPI document of all files, and adds the answers that operations have in common. */
function assembleApi(files: ApiFile[]): OpenApi {
  const components: OpenApi['components'] = { schemas: {}, responses: {}, parameters: {} }
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
    security: [{ token: [] }],
    tags,
    paths,
    components: {
      ...reachable(paths, components),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

function addAll(to: Record<string, unknown>, from: object, file: string): void {
  for (const [name, value] of Object.entries(from)) {
    if (Object.hasOwn(to, name)) throw new Error(`schemas/api/${file}: ${name} stands in another file too`)
    to[name] = value
  }
}

/** Adds the errors that follow from the fields of an operation. Other errors stand in the file. */
function withCommonAnswers(path: string, operation: OperationObject): OperationObject {
  const { parameters, requestBody, responses, 'x-annex-roles': roles } = operation
  const isOpen = roles.includes('anyone')
  const hasPathParameters = path.includes('{')
  const isLimited = operation['x-annex-scope'] !== undefined || (!isOpen && roles.length < everyRole)
  const common = {
    400: 'BadRequest',
    ...(!isOpen && { 401: 'Unauthorized' }),
    ...(isLimited && { 403: 'Forbidden' }),
    ...(hasPathParameters && { 404: 'NotFound' }),
    ...(requestBody !== undefined && { 413: 'BodyTooLarge', 422: 'BodyInvalid' }),
    429: 'TooManyRequests',
    default: 'Failed',
  }
  const added = Object.entries(common)
    .filter(([status]) => !Object.hasOwn(responses, status))
    .map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }])
  return {
    ...operation,
    ...(parameters && { parameters }),
    responses: { ...responses, ...Object.fromEntries(added) },
    ...(isOpen && { security: [] }),
  }
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
export function standAlone(schema: Schema, { components }: OpenApi): Schema {
  const { schemas = {} } = reachable(schema, components)
  const toDefinition = (ref: string) => ref.replace('#/components/schemas/', '#/$defs/')
  return mapRefs({ ...schema, $defs: schemas }, toDefinition) as Schema
}

/** The document, and its operations. */
export type Api = { document: OpenApi; operations: Operation[] }

/** Loads the files of schemas/api. */
export function loadApi(): Api {
  const document = assembleApi(readApiFiles())
  return { document, operations: listOperations(document) }
}

function listOperations({ paths, components }: OpenApi): Operation[] {
  const resolve = <T>(value: T | { $ref: string }): T => {
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T
    const [, , section = '', name = ''] = value.$ref.split('/')
    return components[section]?.[name] as T
  }
  const toOperation = (path: string, method: string, given: OperationObject): Operation => {
    const parameters = (given.parameters ?? []).map(resolve)
    const answers = Object.entries(given.responses).map(([status, answer]) => [status, resolve(answer)])
    const body = given.requestBody?.content['application/json']
    const success = Object.keys(given.responses).find((status) => status.startsWith('2'))
    return {
      id: given.operationId,
      method: method.toUpperCase(),
      path,
      tag: given.tags?.[0] ?? '',
      summary: given.summary,
      description: given.description ?? '',
      scope: given['x-annex-scope'],
      roles: given['x-annex-roles'],
      pathParameters: parameters.filter(({ in: place }) => place === 'path'),
      queryParameters: parameters.filter(({ in: place }) => place === 'query'),
      body: body?.schema,
      bodyExample: body?.example,
      isBodyChecked: given['x-annex-body-checked-by-handler'] !== true,
      maxBodyBytes: given['x-annex-max-body-bytes'] ?? maxJsonBytes,
      answers: Object.fromEntries(answers),
      success: Number(success),
    }
  }
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => toOperation(path, method, operation)),
  )
}
