// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { MarkdownTree, NextPage, Time } from './common.ts'
import type { Permissions } from './versions.ts'

/**
 * An integration.
 */
export interface Integration {
  object: 'integration'
  name: string
  title: string
  description: string
  /**
   * The id of the organization that owns it.
   */
  organization: string
  visibility: 'private' | 'unlisted' | 'public'
  /**
   * The address of its icon. It needs no token.
   */
  icon?: string
  categories: string[]
  scopes: string[]
  /**
   * The deployed version. Null when there is none.
   */
  version: VersionName | null
  /**
   * The JSON Schema of the settings of each level, for forms. A setting with `button: true` has no type: it is set by connecting. One with `secret: true` is never shown.
   */
  configurations: {
    [k: string]: {
      [k: string]: unknown
    }
  }
  /**
   * Its addresses.
   */
  urls: {
    publicEndpoint: string
  }
  page?: InstallationPage
  /**
   * For its owner: why its script is not run.
   */
  suspension?: {
    reason: string | null
    since: Time
  }
}

/**
 * A shelf of the catalogue. `visitor-auth` is another name of `authenticated-access`.
 */
export type Category =
  'analytics' | 'collaboration' | 'content' | 'marketing' | 'authenticated-access' | 'visitor-auth' | 'other'

/**
 * What an installation page shows beside the title.
 */
export interface InstallationPage {
  /**
   * The address of the icon.
   */
  icon?: string
  /**
   * The addresses of the preview images.
   */
  previewImages: string[]
  /**
   * Markdown.
   */
  summary?: string
  summaryTree?: MarkdownTree
  categories: string[]
  externalLinks: PageLink[]
  blocks: PageBlock[]
  permissions: Permissions
  /**
   * Where it can be installed. `all`: in the organization, and in sites and spaces.
   */
  target: 'all' | 'site' | 'space' | 'organization'
  /**
   * What it cannot do, in sentences.
   */
  limits: string[]
  /**
   * A sentence: what the publisher can read.
   */
  publisher: string
  /**
   * The title of the organization that owns it.
   */
  publishedBy: string
}

/**
 * A link of the publisher.
 */
export interface PageLink {
  label: string
  url: string
}

/**
 * A component of the palette.
 */
export interface PageBlock {
  id: string
  title: string
  description?: string
}

/**
 * A version by its number and the digest of its content.
 */
export interface VersionName {
  number: number
  digest: string
}

/**
 * Integrations.
 */
export interface IntegrationList {
  items: Integration[]
  next?: NextPage
  count: number
}

/**
 * Settings of a level.
 */
export interface SettingsToCheck {
  level: 'account' | 'site' | 'space'
  configuration: {
    [k: string]: unknown
  }
}

/**
 * A new token of an installation.
 */
export interface InstallationToken {
  token: string
}

/**
 * A task to queue.
 */
export interface NewTask {
  task: {
    [k: string]: unknown
  }
  /**
   * A delay in seconds.
   */
  schedule?: number
}

/**
 * An answer without fields.
 */
export interface Empty {}

/**
 * How far a load of plugin folders is.
 */
export interface FolderLoad {
  object: 'folder_load'
  running: boolean
  /**
   * Folders that are loaded.
   */
  loaded: number
  /**
   * All folders. 0 before they are counted.
   */
  total: number
  /**
   * Names of the folders that it loads now.
   */
  folders: string[]
}

/**
 * What became of each plugin folder.
 */
export interface LoadedFolderList {
  items: LoadedFolder[]
  count: number
}

/**
 * A plugin folder.
 */
export interface LoadedFolder {
  folder: string
  name?: string
  version?: VersionName
  scopes: string[]
  /**
   * `retired`: the folder is gone or holds another integration.
   */
  state: 'loaded' | 'failed' | 'retired'
  problems: {
    [k: string]: unknown
  }[]
  /**
   * The reason of a retirement and the installations that remain, or the version that is pinned.
   */
  note?: string
}

export interface ListIntegrationsQuery {
  /**
   * Only those with this text in their name, title or description. Letter case does not count; `%`, `_` and `*` are characters.
   */
  q?: string
  category?: Category
  /**
   * For people. `true`: only those that are installed in the caller's organization, also unlisted and private ones. `false`: only those that are not.
   */
  installed?: boolean
  /**
   * For operators: the list as people of this organization get it. An operator who sends `installed` names one, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface GetIntegrationByNameQuery {
  /**
   * The key of the install link, for an unlisted integration.
   */
  installKey?: string
}

export interface CheckIntegrationSettingsQuery {
  /**
   * The key of the install link, for an unlisted integration.
   */
  installKey?: string
}

export interface IntegrationsOperations {
  getIntegrationImage: {
    roles: 'anyone'
    params: { integration: string; image: string }
    query: object
    body: undefined
    answer: void
  }
  listIntegrations: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: {}
    query: ListIntegrationsQuery
    body: undefined
    answer: IntegrationList
  }
  getIntegrationByName: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string }
    query: GetIntegrationByNameQuery
    body: undefined
    answer: Integration
  }
  checkIntegrationSettings: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string }
    query: CheckIntegrationSettingsQuery
    body: SettingsToCheck
    answer: void
  }
  resumeIntegration: {
    roles: 'admin' | 'operator'
    params: { integration: string }
    query: object
    body: undefined
    answer: Integration
  }
  createIntegrationInstallationToken: {
    roles: 'integration'
    params: { integration: string; installation: string }
    query: object
    body: undefined
    answer: InstallationToken
  }
  queueIntegrationTask: {
    roles: 'installation' | 'integration'
    params: { integration: string }
    query: object
    body: NewTask
    answer: Empty
  }
  readFolderLoad: {
    roles: 'operator'
    params: {}
    query: object
    body: undefined
    answer: FolderLoad
  }
  reloadFolders: {
    roles: 'operator'
    params: {}
    query: object
    body: undefined
    answer: LoadedFolderList
  }
}
