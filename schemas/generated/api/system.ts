// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * The process answers.
 */
export interface Health {
  status: 'ok'
}

/**
 * The state of each part.
 */
export interface Readiness {
  status: 'ready' | 'not ready'
  [k: string]:
    | {
        [k: string]: unknown
      }
    | 'ready'
    | 'not ready'
}

/**
 * A document of OpenAPI 3.1.
 */
export interface OpenApiDocument {
  openapi: string
  [k: string]: unknown
}

export interface SystemOperations {
  getHealth: {
    roles: 'anyone'
    params: {}
    query: object
    body: undefined
    answer: Health
  }
  getReadiness: {
    roles: 'anyone'
    params: {}
    query: object
    body: undefined
    answer: Readiness
  }
  getMetrics: {
    roles: 'anyone'
    params: {}
    query: object
    body: undefined
    answer: void
  }
  getOpenApi: {
    roles: 'anyone'
    params: {}
    query: object
    body: undefined
    answer: OpenApiDocument
  }
}
