// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * A parameter: the keywords of its schema stand beside its description.
 */
export type ParamSource =
  | string
  | {
      description: string
      /**
       * It takes the rest of the path, with slashes.
       */
      slashes?: boolean
      type?: string
      enum?: unknown[]
      pattern?: string
      maxLength?: number
    }
/**
 * @minItems 1
 */
export type Roles = (
  'reader' | 'editor' | 'admin' | 'operator' | 'integration' | 'installation' | 'account' | 'anyone'
)[]
/**
 * A parameter or a header: the keywords of its schema stand beside its name.
 */
export type NamedSource =
  | string
  | {
      name: string
      description: string
      /**
       * The name of a schema.
       */
      schema?: string
      type?: string
      enum?: unknown[]
      default?: unknown
      format?: string
      pattern?: string
      minimum?: number
      maximum?: number
      maxLength?: number
    }
export type AnswerSource =
  | string
  | {
      description: string
      /**
       * The media type, if it is not JSON.
       */
      type?: string
      /**
       * The name of a schema. A body that is not JSON has a schema of its own, by default a text.
       */
      schema?: string | {}
      example?: unknown
      /**
       * A text names one of `headers`.
       */
      headers?: NamedSource[]
    }

/**
 * A file of schemas/api: the operations of a resource, and what they share. expand-operations.ts makes OpenAPI of it.
 */
export interface ApiSource {
  /**
   * Editors complete and check the file by it.
   */
  $schema?: '../api-source.schema.json'
  /**
   * The name of the file without `.schema.json`.
   */
  $id: string
  title: string
  description: string
  /**
   * Parameters of this file's paths and queries, by their names. Each operation gets a copy.
   */
  params?: {
    [k: string]: ParamSource
  }
  /**
   * Operations by their method and path: `GET /v1/orgs/{org}`.
   */
  operations?: {
    [k: string]: OperationSource
  }
  /**
   * Parameters with a name in OpenAPI, for all files. A path finds its parameters by their `name`: those of common.schema.json, then those of its file.
   */
  parameters?: {
    [k: string]: {}
  }
  responses?: {
    [k: string]: {}
  }
  headers?: {
    [k: string]: {}
  }
  $defs?: {
    [k: string]: {}
  }
}
/**
 * An operation. A name of a schema, parameter, header or response is that of any file.
 */
export interface OperationSource {
  id: string
  /**
   * The operation has three addresses: for an installation, and for its site and space installations. `{level}`, `{a level}` and `{Level}` stand for their words. An object has the fields that differ otherwise.
   */
  levels?:
    | {
        site: LevelFields
        space: LevelFields
      }
    | boolean
  summary: string
  description?: string
  /**
   * The scope that a script's token needs.
   */
  scope?: string
  roles: Roles
  /**
   * A session needs a password or passkey within the last ten minutes.
   */
  confirmed?: true
  /**
   * Parameters of the path that differ from those of the file and of `parameters`. A text names one of `parameters`.
   */
  params?: {
    [k: string]: ParamSource
  }
  /**
   * Parameters of the query. A text names one of the file's `params`, or of `parameters`.
   */
  query?: NamedSource[]
  /**
   * Headers of the request. A text names one of `parameters`.
   */
  headers?: string[]
  /**
   * The JSON body. A text names its schema, and the body is required.
   */
  body?:
    | string
    | {
        schema: string
        /**
         * Default: true.
         */
        required?: boolean
        example?: unknown
      }
  /**
   * Default: 64 KiB.
   */
  maxBodyBytes?: number
  isBodyCheckedByHandler?: boolean
  /**
   * Answers by their status. A text names one of `responses`. Common errors are added.
   */
  answers: {
    [k: string]: AnswerSource
  }
}
/**
 * Fields of an operation that differ at one level.
 */
export interface LevelFields {
  id?: string
  summary?: string
  description?: string
  roles?: Roles
}
