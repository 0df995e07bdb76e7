/** A JSON Schema (2020-12). */
export type Schema = { [keyword: string]: unknown }

export type Role = 'reader' | 'editor' | 'admin' | 'operator' | 'integration' | 'installation' | 'account'

/** A parameter of OpenAPI 3.1. */
export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  /** Of a path: it takes the rest, with slashes. */
  'x-annex-slashes'?: boolean
  schema: Schema
}

type Content = Record<string, { schema?: Schema; example?: unknown }>
export type Answer = { description: string; content?: Content; headers?: Schema }

/** An operation of OpenAPI 3.1, with the fields of Annex. */
export type OperationObject = {
  operationId: string
  summary: string
  description?: string
  'x-annex-scope'?: string
  'x-annex-roles': (Role | 'anyone')[]
  /** A session needs a confirmation within the last ten minutes. */
  'x-annex-confirmed'?: boolean
  /** Of the JSON body. Default: 64 KiB. */
  'x-annex-max-body-bytes'?: number
  /** The handler checks the body. */
  'x-annex-body-checked-by-handler'?: boolean
  parameters?: Parameter[]
  requestBody?: { required?: boolean; description?: string; content: Content }
  responses: Record<string, Answer>
  tags?: string[]
  security?: object[]
}

export type Shared = {
  $defs?: Record<string, Schema>
  responses?: Record<string, object>
  parameters?: Record<string, object>
  headers?: Record<string, object>
}

/** A file of schemas/api after expand-operations.ts: the operations of a resource, and what they share. */
export type ApiFile = Shared & {
  $id: string
  title: string
  description: string
  paths?: Record<string, Record<string, OperationObject>>
  /** The ids of the three forms of an operation of levels, by the account's method and path. */
  levelOperations?: Record<string, Record<string, string>>
}

export type OpenApi = {
  openapi: string
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, OperationObject>>
  components: { [section: string]: Record<string, Schema> }
  [field: string]: unknown
}
