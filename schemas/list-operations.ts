import type { Answer, OpenApi, OperationObject, Parameter, Role, Schema } from './openapi.ts'

/** The fields of an operation of the API. */
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
  /** A session needs a confirmation within the last ten minutes. */
  needsConfirmation: boolean
  pathParameters: readonly Parameter[]
  queryParameters: readonly Parameter[]
  headerParameters: readonly Parameter[]
  /** The schema of the JSON body. */
  body: Schema | undefined
  bodyExample: unknown
  isBodyChecked: boolean
  maxBodyBytes: number
  answers: Readonly<Record<string, Answer>>
  /** The first status of `answers` that is a success or a redirect. */
  success: number
}

/** A longer body of a record or of settings would hold the event loop while it is read, checked and compared. */
const maxJsonBytes = 64 * 1024

/** The operations of a document, with what they share by name put in its place. */
export function listOperations({ paths, components }: OpenApi): Operation[] {
  const resolve = <T>(value: T | { $ref: string }): T => {
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T
    const [, , section = '', name = ''] = value.$ref.split('/')
    return components[section]?.[name] as T
  }
  const toOperation = (path: string, method: string, given: OperationObject): Operation => {
    const parameters = (given.parameters ?? []).map(resolve)
    const answers = Object.entries(given.responses).map(([status, answer]) => [status, resolve(answer)])
    const body = given.requestBody?.content['application/json']
    const success = Object.keys(given.responses).find((status) => /^[23]/.test(status))
    return {
      id: given.operationId,
      method: method.toUpperCase(),
      path,
      tag: given.tags?.[0] ?? '',
      summary: given.summary,
      description: given.description ?? '',
      scope: given['x-annex-scope'],
      roles: given['x-annex-roles'],
      needsConfirmation: given['x-annex-confirmed'] === true,
      pathParameters: parameters.filter(({ in: location }) => location === 'path'),
      queryParameters: parameters.filter(({ in: location }) => location === 'query'),
      headerParameters: parameters.filter(({ in: location }) => location === 'header'),
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
