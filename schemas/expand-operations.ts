import type {
  AnswerSource,
  ApiSource,
  NamedSource,
  OperationSource,
  ParamSource,
} from './generated/api-source.ts'
import { toForms } from './level-forms.ts'
import type { Answer, ApiFile, OperationObject, Parameter, Schema, Shared } from './openapi.ts'

type Section = keyof Shared
/** What the files share, by section and name, and the address of each operation id so far. */
type Known = { sections: Record<Section, Map<string, object>>; ids: Map<string, string> }
/** Parameters by their names in a path or query. A text names one of `parameters`. */
type Params = ReadonlyMap<string, ParamSource>
type Described = Exclude<ParamSource, string>
type Fail = (field: string, problem: string) => Error

/** Makes OpenAPI's paths of the operations of each file: they are written in short. */
export function expandFiles(sources: readonly ApiSource[]): ApiFile[] {
  const collect = (section: Section) =>
    new Map(sources.flatMap((source) => Object.entries(source[section] ?? {})))
  const sections = {
    $defs: collect('$defs'),
    responses: collect('responses'),
    parameters: collect('parameters'),
    headers: collect('headers'),
  }
  const known = { sections, ids: new Map() }
  const common = sources.find(({ $id }) => $id === 'common')
  return sources.map((source) => expandFile(source, common, known))
}

function expandFile(
  { operations, params = {}, ...source }: ApiSource,
  common: ApiSource | undefined,
  known: Known,
): ApiFile {
  if (operations === undefined) return source
  const all = new Map([...pathParametersOf(source), ...pathParametersOf(common), ...Object.entries(params)])
  const paths: Record<string, Record<string, OperationObject>> = {}
  const levelOperations: Record<string, Record<string, string>> = {}
  for (const [written, operation] of Object.entries(operations)) {
    const fail: Fail = (field, problem) =>
      new Error(`schemas/api/${source.$id}.schema.json: ${written}: ${field}: ${problem}`)
    for (const { level, address, operation: form } of toForms(written, operation, fail)) {
      const [method = '', path = ''] = address.toLowerCase().split(' ')
      const item = paths[path] ?? {}
      if (Object.hasOwn(item, method)) throw fail('levels', `the file has ${address}, too`)
      const other = known.ids.get(form.id)
      if (other !== undefined) throw fail('id', `${other} has the id ${form.id}, too`)
      known.ids.set(form.id, address)
      paths[path] = { ...item, [method]: expandOperation(path, form, all, known, fail) }
      if (level !== undefined) levelOperations[written] = { ...levelOperations[written], [level]: form.id }
    }
  }
  return { ...source, paths, levelOperations }
}

/** By the name in a path, the name in OpenAPI. */
const pathParametersOf = (file: ApiSource | undefined): [string, string][] =>
  Object.entries((file?.parameters ?? {}) as Record<string, Parameter>)
    .filter(([, parameter]) => parameter.in === 'path')
    .map(([key, { name }]) => [name, key])

function expandOperation(
  path: string,
  operation: OperationSource,
  ofFile: Params,
  { sections }: Known,
  fail: Fail,
): OperationObject {
  const { params: ownParams = {}, query = [], headers = [], body, answers } = operation
  const params = new Map([...ofFile, ...Object.entries(ownParams)])
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const stray = Object.keys(ownParams).find((name) => !names.includes(name))
  if (stray !== undefined) throw fail(`params/${stray}`, 'the path has no such parameter')
  const parameters = [
    ...names.map(toPathParameter),
    ...query.map((given, index) => toQueryParameter(given, `query/${index}`)),
    ...headers.map((name, index) => refer('parameters', name, `headers/${index}`, 'header')),
  ] as Parameter[]
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    ...(operation.scope !== undefined && { 'x-annex-scope': operation.scope }),
    'x-annex-roles': operation.roles,
    ...(operation.confirmed && { 'x-annex-confirmed': true }),
    ...(operation.maxBodyBytes !== undefined && { 'x-annex-max-body-bytes': operation.maxBodyBytes }),
    ...(operation.isBodyCheckedByHandler && { 'x-annex-body-checked-by-handler': true }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: toRequestBody(body) }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [status, toAnswer(answer, `answers/${status}`)]),
    ),
  }

  /** A reference to what any file declares under this name. A parameter has a location, too. */
  function refer(
    section: Section,
    name: string,
    field: string,
    location?: Parameter['in'],
  ): { $ref: string } {
    const found = sections[section].get(name)
    if (found === undefined) throw fail(field, `no file of schemas/api has "${name}" in its ${section}`)
    const { in: actual } = found as Partial<Parameter>
    if (location !== actual)
      throw fail(field, `the parameter ${name} is one of the ${actual}, not of the ${location}`)
    return { $ref: `#/${section}/${name}` }
  }

  function toPathParameter(name: string): object {
    const field = `params/${name}`
    const given = params.get(name)
    if (given === undefined) throw fail(field, 'nothing describes this parameter: add it to "params"')
    if (typeof given === 'string') return refer('parameters', given, field, 'path')
    const { description, slashes, ...schema } = given
    const extra = slashes && { 'x-annex-slashes': true }
    return { name, in: 'path', required: true, ...extra, description, schema }
  }

  function toQueryParameter(given: NamedSource, field: string): object {
    const own = typeof given === 'string' ? params.get(given) : undefined
    if (typeof given === 'string' && (own === undefined || typeof own === 'string')) {
      return refer('parameters', own ?? given, field, 'query')
    }
    const { name, description, ...schema } =
      typeof given === 'string' ? { name: given, ...(own as Described) } : given
    return { name, in: 'query', description, schema: toSchema(schema, field) }
  }

  function toRequestBody(given: NonNullable<OperationSource['body']>) {
    const { schema, required = true, example } = typeof given === 'string' ? { schema: given } : given
    const json = { schema: refer('$defs', schema, 'body'), ...(example !== undefined && { example }) }
    return { ...(required && { required }), content: { 'application/json': json } }
  }

  function toAnswer(given: AnswerSource, field: string): Answer {
    if (typeof given === 'string') return refer('responses', given, field) as never
    const { description, type, schema, example, headers = [] } = given
    if (type === undefined && typeof schema === 'object') throw fail(`${field}/schema`, 'name a schema')
    const described = typeof schema === 'string' ? refer('$defs', schema, `${field}/schema`) : schema
    const media = { schema: described ?? { type: 'string' }, ...(example !== undefined && { example }) }
    const hasBody = type !== undefined || schema !== undefined
    if (!hasBody && example !== undefined) throw fail(`${field}/example`, 'needs a schema')
    return {
      description,
      ...(headers.length > 0 && { headers: toHeaders(headers, `${field}/headers`) }),
      ...(hasBody && { content: { [type ?? 'application/json']: media } }),
    }
  }

  function toHeaders(given: readonly NamedSource[], field: string): Schema {
    return Object.fromEntries(
      given.map((header) => {
        if (typeof header === 'string') return [header, refer('headers', header, field)]
        const { name, description, ...schema } = header
        return [name, { description, schema: toSchema(schema, field) }]
      }),
    )
  }

  /** The keywords of a schema, and what the named one has. */
  function toSchema({ schema, ...keywords }: { schema?: string }, field: string): Schema {
    return { ...(schema !== undefined && refer('$defs', schema, `${field}/schema`)), ...keywords }
  }
}
