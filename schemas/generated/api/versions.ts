// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'

/**
 * One thing that a version asks an installer for.
 */
export interface Permission {
  kind: 'scope' | 'host' | 'delivery' | 'level' | 'directive' | 'secret'
  /**
   * `*` as a host is any public host.
   */
  name: string
  /**
   * For the installer.
   */
  sentence: string
}

/**
 * A permission that the organization has agreed to. A scope has its uses.
 */
export interface AgreedPermission {
  kind: 'scope' | 'host' | 'delivery' | 'level' | 'directive' | 'secret'
  /**
   * `*` as a host is any public host.
   */
  name: string
  /**
   * For the installer.
   */
  sentence: string
  /**
   * How often the script has used the scope today and on the 29 days before, in UTC.
   */
  usedLast30Days?: number
  /**
   * The last of these days.
   */
  lastUsedOn?: string | null
}

export type Permissions = Permission[]

export interface Version {
  object: 'version'
  number: number
  digest: string
  /**
   * `loaded`: the version of the folder, while another one is pinned. `kept`: it can be deployed again.
   */
  state: 'deployed' | 'loaded' | 'kept'
  /**
   * A person has rolled back to it.
   */
  pinned: boolean
  permissions: Permissions
  createdAt: Time
}

export interface VersionList {
  items: Version[]
  next?: NextPage
  count: number
}

export interface VersionDifference {
  object: 'version-difference'
  from: number
  to: number
  needsAgreement: boolean
  added: Permissions
  removed: Permissions
  /**
   * Settings by level and name.
   */
  settings: {
    added: string[]
    removed: string[]
  }
  /**
   * For the owner: the installations whose organizations have not agreed to the newer version.
   */
  waiting?: number
}

export interface Rollback {
  /**
   * Default: the version before the deployed one.
   */
  version?: number
  /**
   * With true, the answer is the same, and nothing changes.
   */
  dryRun?: boolean
}

/**
 * The words of an installer: the version that the installer has read, and all its scopes. Without both, 409 with what the version asks for.
 */
export interface Agreement {
  /**
   * The number of the version that the installer has read.
   */
  version?: number
  /**
   * All scopes of that version: an empty list where it has none.
   *
   * @maxItems 100
   */
  scopes?: string[]
  /**
   * False never agrees. True alone is no agreement.
   */
  agree?: boolean
}

/**
 * The cause of a change. `id`: a member, a token, or the installation or integration of a script.
 */
export interface Actor {
  kind: 'person' | 'token' | 'script' | 'system'
  id: string | null
}

export interface InstallationAgreement {
  object: 'agreement'
  installation: string
  /**
   * The version that the installation runs.
   */
  version: number
  countedSince: Time
  agreed: null | Grant
  /**
   * The deployed version, while it waits, and what is new in it.
   */
  waiting: null | WaitingVersion
}

export interface Grant {
  version: number
  permissions: AgreedPermission[]
  by: Actor
  at: Time
}

export interface WaitingVersion {
  version: number
  permissions: Permissions
}

/**
 * What to remove.
 */
export interface Prune {
  /**
   * Also integrations that are installed.
   */
  installations?: boolean
  /**
   * Removes nothing.
   */
  dryRun?: boolean
}

/**
 * An integration whose folder is gone.
 */
export interface PrunedIntegration {
  name: string
  installations: number
}

/**
 * Integrations whose folder is gone.
 */
export interface PrunedList {
  items: PrunedIntegration[]
  count: number
}

export interface ListIntegrationVersionsQuery {
  /**
   * The key of the install link, for an unlisted integration.
   */
  installKey?: string
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface CompareIntegrationVersionsQuery {
  /**
   * The number of the older version. Default: the version before.
   */
  from?: number
  /**
   * The key of the install link, for an unlisted integration.
   */
  installKey?: string
}

export interface VersionsOperations {
  listIntegrationVersions: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { integration: string }
    query: ListIntegrationVersionsQuery
    body: undefined
    answer: VersionList
  }
  compareIntegrationVersions: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { integration: string; version: string }
    query: CompareIntegrationVersionsQuery
    body: undefined
    answer: VersionDifference
  }
  rollBackIntegration: {
    roles: 'admin' | 'operator'
    params: { integration: string }
    query: object
    body: Rollback
    answer: Version
  }
  unpinIntegration: {
    roles: 'admin' | 'operator'
    params: { integration: string }
    query: object
    body: undefined
    answer: Version
  }
  getInstallationAgreement: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: undefined
    answer: InstallationAgreement
  }
  agreeToVersion: {
    roles: 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: Agreement
    answer: InstallationAgreement
  }
  pruneIntegrations: {
    roles: 'operator'
    params: {}
    query: object
    body: Prune
    answer: PrunedList
  }
}
