// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { Time } from './common.ts'

/**
 * Where a button leads.
 */
export interface ConnectionTarget {
  object: 'connection_target'
  /**
   * The callback address, as the provider gets it.
   */
  callback: string
  /**
   * The URL origin of the provider. Without it the script leads to no other server.
   */
  provider?: string
  /**
   * Why the script could not say where the button leads.
   */
  problem?: string
}

/**
 * A link for one browser.
 */
export interface ConnectLink {
  object: 'connect-link'
  url: string
  expiresAt: Time
}

/**
 * Where a connection begins.
 */
export interface ConnectRequest {
  /**
   * A path below the level's endpoint.
   */
  path: string
}

/**
 * The connection of a button with its provider. No person sees its credentials.
 */
export interface Connection {
  /**
   * `expiring`: it ends within three days. `broken`: the provider has ended it.
   */
  state: 'none' | 'connected' | 'expiring' | 'broken'
  /**
   * The account at the provider, as the script names it.
   */
  account?: string
  since?: Time
  expiresAt?: Time
  lastError?: string
  /**
   * Another account has connected since. It is not used until a person accepts it. After `until` it is deleted, with its credentials. Buttons with one `callback_url` share it.
   */
  held?: {
    account: string
    /**
     * The account that the script uses.
     */
    replaces: string
    at: Time
    until: Time
  }
}

/**
 * The connection of each button. Scripts see the stored values in `configuration` instead.
 */
export interface Connections {
  [k: string]: Connection
}

/**
 * The texts that stand for the values of settings, as a list of choices last had them.
 */
export interface Labels {
  [k: string]: string
}

/**
 * Settings with a `completion_url` whose values no list of choices has had, as far as Annex knows. Reading the choices with `value` confirms one.
 */
export type Unconfirmed = string[]

/**
 * For scripts: what has become of a connection.
 */
export type ConnectionEdit =
  | {
      callback: string
      account?: string
    }
  | {
      /**
       * Its names in `configuration`.
       *
       * @minItems 1
       * @maxItems 10
       */
      names: string[]
      step: 'claim' | 'renewed'
    }
  | {
      /**
       * Its names in `configuration`.
       *
       * @minItems 1
       * @maxItems 10
       */
      names: string[]
      error: string
      retryAfterMs?: number
    }

/**
 * One choice.
 */
export interface SettingOption {
  label: string
  value: string
}

/**
 * The choices of a setting.
 */
export interface SettingOptions {
  options: SettingOption[]
  /**
   * The next page. The last page has none.
   */
  next?: string
  /**
   * The script failed: this is its last known label.
   */
  stale?: true
}

export interface ListInstallationSettingOptionsQuery {
  /**
   * A text that the labels match.
   */
  q?: string
  /**
   * `next` of the page before.
   */
  page?: string
  /**
   * Only the choice with this value.
   */
  value?: string
}

export interface ListSiteInstallationSettingOptionsQuery {
  /**
   * A text that the labels match.
   */
  q?: string
  /**
   * `next` of the page before.
   */
  page?: string
  /**
   * Only the choice with this value.
   */
  value?: string
}

export interface ListSpaceInstallationSettingOptionsQuery {
  /**
   * A text that the labels match.
   */
  q?: string
  /**
   * `next` of the page before.
   */
  page?: string
  /**
   * Only the choice with this value.
   */
  value?: string
}

export interface ConnectionsOperations {
  readInstallationConnectionTarget: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; property: string }
    query: object
    body: undefined
    answer: ConnectionTarget
  }
  connectInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; property: string }
    query: object
    body: undefined
    answer: ConnectLink
  }
  readSiteInstallationConnectionTarget: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string; property: string }
    query: object
    body: undefined
    answer: ConnectionTarget
  }
  connectSiteInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string; property: string }
    query: object
    body: undefined
    answer: ConnectLink
  }
  readSpaceInstallationConnectionTarget: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string; property: string }
    query: object
    body: undefined
    answer: ConnectionTarget
  }
  connectSpaceInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string; property: string }
    query: object
    body: undefined
    answer: ConnectLink
  }
  connectInstallation: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: ConnectRequest
    answer: ConnectLink
  }
  connectSiteInstallation: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string }
    query: object
    body: ConnectRequest
    answer: ConnectLink
  }
  connectSpaceInstallation: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string }
    query: object
    body: ConnectRequest
    answer: ConnectLink
  }
  listInstallationSettingOptions: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; property: string }
    query: ListInstallationSettingOptionsQuery
    body: undefined
    answer: SettingOptions
  }
  listSiteInstallationSettingOptions: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string; property: string }
    query: ListSiteInstallationSettingOptionsQuery
    body: undefined
    answer: SettingOptions
  }
  listSpaceInstallationSettingOptions: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string; property: string }
    query: ListSpaceInstallationSettingOptionsQuery
    body: undefined
    answer: SettingOptions
  }
  getConnectPage: {
    roles: 'anyone'
    params: { token: string }
    query: object
    body: undefined
    answer: void
  }
  openConnectLink: {
    roles: 'anyone'
    params: { token: string }
    query: object
    body: undefined
    answer: void
  }
}
