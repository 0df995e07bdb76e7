// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'
import type { Actor } from './versions.ts'

/**
 * A change of a level's status.
 */
export interface StatusChange {
  object: 'status-change'
  at: Time
  /**
   * Null: the level was installed, or Annex began to keep changes.
   */
  from: 'pending' | 'active' | 'paused' | 'suspended' | null
  to: 'pending' | 'active' | 'paused' | 'suspended'
  /**
   * `recorded`: the status when Annex began to keep changes. `set_up`, `setup_failed`: how the script handled its setup event. `settings`: an edit. `version`: another version was deployed. `agreement`: the organization has agreed to a version. `retired`: the plugin folder is gone. `secret_key`: the settings were encrypted with another key, or with this one again.
   */
  why:
    | 'recorded'
    | 'installed'
    | 'set_up'
    | 'setup_failed'
    | 'settings'
    | 'version'
    | 'agreement'
    | 'paused'
    | 'resumed'
    | 'suspended'
    | 'retired'
    | 'secret_key'
  /**
   * A text of Annex or of the script, for people.
   */
  reason?: string
  by: Actor
  /**
   * The dispatch that handled the setup event, or the request of the API.
   */
  request?: string
  /**
   * The setup event.
   */
  event?: string
  /**
   * The number of the version that runs since.
   */
  version?: number
}

/**
 * Changes of a status.
 */
export interface StatusChangeList {
  items: StatusChange[]
  next?: NextPage
  count: number
}

export interface ListInstallationStatusChangesQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface ListSiteInstallationStatusChangesQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface ListSpaceInstallationStatusChangesQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface StatusChangesOperations {
  listInstallationStatusChanges: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: ListInstallationStatusChangesQuery
    body: undefined
    answer: StatusChangeList
  }
  listSiteInstallationStatusChanges: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string }
    query: ListSiteInstallationStatusChangesQuery
    body: undefined
    answer: StatusChangeList
  }
  listSpaceInstallationStatusChanges: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string }
    query: ListSpaceInstallationStatusChangesQuery
    body: undefined
    answer: StatusChangeList
  }
}
