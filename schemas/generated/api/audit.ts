// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'
import type { Actor } from './versions.ts'

/**
 * A change.
 */
export interface AuditEntry {
  object: 'audit'
  id: string
  at: Time
  /**
   * docs/audit.md lists them.
   */
  action: string
  actor: Actor
  /**
   * Null: a change of Annex as a whole.
   */
  organization: string | null
  subject: AuditSubject
  /**
   * Null: the subject was not there, or the change has no such values.
   */
  before: {
    [k: string]: unknown
  } | null
  after: {
    [k: string]: unknown
  } | null
  request: string | null
  /**
   * Of the client.
   */
  address: string | null
}

/**
 * The record that was changed.
 */
export interface AuditSubject {
  kind: string
  id: string
}

/**
 * Changes.
 */
export interface AuditList {
  items: AuditEntry[]
  next?: NextPage
  count: number
  /**
   * Days for which changes are kept. Absent: for ever.
   */
  retentionDays?: number
}

export interface ListAuditQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * Only this action: `settings.change`.
   */
  action?: string
  /**
   * Only changes of this subject, by its id.
   */
  subject?: string
  /**
   * Only changes by this member, token or script, by its id.
   */
  actor?: string
  /**
   * Only from this time on.
   */
  since?: string
  /**
   * Only before this time.
   */
  until?: string
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface ExportAuditQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * Only this action: `settings.change`.
   */
  action?: string
  /**
   * Only changes of this subject, by its id.
   */
  subject?: string
  /**
   * Only changes by this member, token or script, by its id.
   */
  actor?: string
  /**
   * Only from this time on.
   */
  since?: string
  /**
   * Only before this time.
   */
  until?: string
}

export interface AuditOperations {
  listAudit: {
    roles: 'admin' | 'operator'
    params: {}
    query: ListAuditQuery
    body: undefined
    answer: AuditList
  }
  exportAudit: {
    roles: 'admin' | 'operator'
    params: {}
    query: ExportAuditQuery
    body: undefined
    answer: void
  }
}
