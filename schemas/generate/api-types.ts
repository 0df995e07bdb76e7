import { compile, type Options } from 'json-schema-to-typescript'
import type { ApiFile, Parameter, Schema } from '../openapi.ts'

/** A file of generated types, by the id of its schema file. */
export type ApiTypes = { id: string; text: string }

/** Makes the types of each file of schemas/api: its records, and its operations. `operations` has those of all files. */
export async function makeApiTypes(files: ApiFile[], options: Partial<Options>): Promise<ApiTypes[]> {
  const homes = new Map(
    files.flatMap(({ $id, $defs = {} }) => Object.keys($defs).map((name): [string, string] => [name, $id])),
  )
  const parameters = Object.assign({}, ...files.map((file) => file.parameters ?? {}))
  const made = await Promise.all(files.map((file) => makeFile(file, homes, parameters, options)))
  const withOperations = files.filter(({ paths }) => paths !== undefined)
  const imports = withOperations.map(
    (file) => `import type { ${operationsName(file)} } from './${file.$id}.ts'`,
  )
  const all = [
    ...[options.bannerComment, '', ...imports, '', '/** Each operation of the API by its id. */'],
    `export type Operations = ${withOperations.map(operationsName).join(' &\n  ')}`,
    ...['', 'export type OperationId = keyof Operations', ''],
    '/** The ids of the three forms of an operation of levels, by the method and path of the account. */',
    'export const levelOperations = {',
    ...files.flatMap(({ levelOperations = {} }) => Object.entries(levelOperations).map(toLevelLines)),
    '} as const satisfies Record<string, { account: OperationId; site: OperationId; space: OperationId }>',
    '',
    '/** The operations at an address. One of levels is named by that of the account, and stands for three. */',
    'export type Routes = {',
    ...files.flatMap(toRouteLines),
    '}',
    '',
  ]
  const texts = made.filter(({ text }) => text.includes('export '))
  return withOperations.length === 0 ? texts : [...texts, { id: 'operations', text: all.join('\n') }]
}

const toLevelLines = ([address, ids]: [string, Record<string, string>]): string =>
  [`  '${address}': {`, ...Object.entries(ids).map(([level, id]) => `    ${level}: '${id}',`), '  },'].join(
    '\n',
  )

function toRouteLines({ paths = {}, levelOperations = {} }: ApiFile): string[] {
  const forms = new Map(Object.values(levelOperations).map((ids) => [ids.account, Object.values(ids)]))
  const derived = new Set(Object.values(levelOperations).flatMap(({ site, space }) => [site, space]))
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { operationId: id }]) => {
      const ids = (forms.get(id) ?? [id]).map((one) => `'${one}'`).join(' | ')
      return derived.has(id) ? [] : [`  '${method.toUpperCase()} ${path}': ${ids}`]
    }),
  )
}

const operationsName = ({ $id }: ApiFile): string => `${pascal($id)}Operations`

const pascal = (text: string): string =>
  text.replaceAll(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase())

async function makeFile(
  { $id, $defs = {}, paths = {} }: ApiFile,
  homes: ReadonlyMap<string, string>,
  shared: Record<string, object>,
  options: Partial<Options>,
): Promise<ApiTypes> {
  const used = new Set<string>()
  /** A reference becomes the name of a type. */
  const named = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(named)
    if (typeof value !== 'object' || value === null) return value
    const { $ref, ...rest } = value as { $ref?: string }
    if ($ref !== undefined) {
      const name = nameOf($ref)
      if (!homes.has(name)) throw new Error(`schemas/api/${$id}: there is no ${$ref}`)
      used.add(name)
      return { tsType: name }
    }
    const kept = Object.entries(rest).filter(([key, inner]) => !isAnnotation(key, inner))
    return Object.fromEntries(kept.map(([key, inner]) => [key, named(inner)]))
  }
  const make = async (name: string, schema: object) => {
    const text = await compile(named(schema) as never, name, { ...options, bannerComment: '' })
    return text.trim()
  }

  const blocks: string[] = []
  for (const [name, schema] of Object.entries($defs)) blocks.push(await make(name, schema))
  const lines: string[] = []
  for (const [path, item] of Object.entries(paths)) {
    for (const operation of Object.values(item)) {
      const { operationId: id, parameters = [], requestBody, responses } = operation
      const query = parameters.map((given) => resolve(given, shared)).filter((given) => given.in === 'query')
      const queryName = `${pascal(id)}Query`
      if (query.length > 0) blocks.push(await make(queryName, toQuerySchema(query)))
      const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`)
      const answers = Object.entries(responses)
        .filter(([status]) => /^[23]/.test(status))
        .map(([, { content }]) => toTypeName(content, id, used))
      lines.push(
        `  ${id}: {`,
        `    roles: ${operation['x-annex-roles'].map((role) => `'${role}'`).join(' | ')}`,
        `    params: { ${params.join('; ')} }`,
        `    query: ${query.length > 0 ? queryName : 'object'}`,
        `    body: ${requestBody === undefined ? 'undefined' : toTypeName(requestBody.content, id, used)}`,
        `    answer: ${[...new Set(answers)].join(' | ')}`,
        '  }',
      )
    }
  }
  if (lines.length > 0) {
    blocks.push(`export interface ${operationsName({ $id } as ApiFile)} {\n${lines.join('\n')}\n}`)
  }
  const foreign = Map.groupBy(
    [...used].filter((name) => homes.get(name) !== $id),
    (name) => homes.get(name),
  )
  const imports = [...foreign]
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map(([home, names]) => `import type { ${names.toSorted().join(', ')} } from './${home}.ts'`)
  const parts = [options.bannerComment, imports.join('\n'), ...blocks].filter(Boolean)
  return { id: $id, text: `${parts.join('\n\n').replaceAll('{  }', '{}')}\n` }
}

/** A title inside of a record would give its part a type of its own. */
const isAnnotation = (key: string, value: unknown): boolean =>
  (key === 'title' && typeof value === 'string') || (key === 'examples' && Array.isArray(value))

const nameOf = (ref: string): string => ref.split('/').at(-1) ?? ''

/** Bodies and answers have a name in `$defs`, so that handlers can import their types. */
function toTypeName(
  content: Record<string, { schema?: Schema }> | undefined,
  id: string,
  used: Set<string>,
): string {
  const json = content?.['application/json']
  // There is no body, or the handler reads or sets it itself.
  if (json === undefined) return 'void'
  const ref = json.schema?.$ref
  if (typeof ref !== 'string') throw new Error(`schemas/api: give the bodies of ${id} a name in $defs`)
  used.add(nameOf(ref))
  return nameOf(ref)
}

function resolve(given: Parameter | { $ref: string }, shared: Record<string, object>): Parameter {
  if (!('$ref' in given)) return given
  const found = shared[nameOf(given.$ref)]
  if (found === undefined) throw new Error(`schemas/api: there is no ${given.$ref}`)
  return found as Parameter
}

/** A parameter with a default is always there. */
const toQuerySchema = (query: Parameter[]): object => ({
  type: 'object',
  required: query.filter((one) => one.required || one.schema.default !== undefined).map(({ name }) => name),
  properties: Object.fromEntries(
    query.map(({ name, description, schema }) => [name, { description, ...schema }]),
  ),
})
