// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { Time } from './common.ts'

/**
 * A line of a log.
 */
export interface LogLine {
  id: number
  at: Time
  level: string
  integration: string
  installation?: string
  request?: string
  text: string
}

/**
 * A page of lines.
 */
export interface LogList {
  items: LogLine[]
  /**
   * Where the next page begins: a parameter of the query.
   */
  next?: {
    before?: number
    after?: number
  }
  count: number
}

export interface ListLogsQuery {
  /**
   * Only of this integration, by its name.
   */
  integration?: string
  /**
   * Only of this installation, by its id.
   */
  installation?: string
  /**
   * Only of this request, by its id.
   */
  request?: string
  /**
   * The page before this line.
   */
  before?: string
  /**
   * The page after this line.
   */
  after?: string
  /**
   * The most items of a page.
   */
  limit: number
}

export interface LogsOperations {
  listLogs: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: ListLogsQuery
    body: undefined
    answer: LogList
  }
}
