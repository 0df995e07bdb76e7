// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'

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
  next?: NextPage
  count: number
}

export interface ListLogsQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * Only of this integration, by its name.
   */
  integration?: string
  /**
   * Only of this installation, by its id.
   */
  installation?: string
  /**
   * Only of this level.
   */
  level?: 'debug' | 'info' | 'warn' | 'error'
  /**
   * Only with this text, in any case of its letters.
   */
  text?: string
  /**
   * Only from this time on.
   */
  since?: string
  /**
   * Only before this time.
   */
  until?: string
  /**
   * Only of this request, by its id.
   */
  request?: string
  /**
   * The id of a line: the first ones after it. Without it the newest.
   */
  after?: number
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
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
