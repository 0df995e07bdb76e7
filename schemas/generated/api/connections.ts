// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { Time } from './common.ts'

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
    }

export interface ConnectionsOperations {
  connectInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; property: string }
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
  connectSiteInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string; property: string }
    query: object
    body: undefined
    answer: ConnectLink
  }
  connectSiteInstallation: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string }
    query: object
    body: ConnectRequest
    answer: ConnectLink
  }
  connectSpaceInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string; property: string }
    query: object
    body: undefined
    answer: ConnectLink
  }
  connectSpaceInstallation: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string }
    query: object
    body: ConnectRequest
    answer: ConnectLink
  }
  openConnectLink: {
    roles: 'anyone'
    params: { token: string }
    query: object
    body: undefined
    answer: void
  }
}
