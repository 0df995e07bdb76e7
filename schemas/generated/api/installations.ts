// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { Configuration, NextPage, Time } from './common.ts'
import type { ConnectionEdit, Connections, Labels, Unconfirmed } from './connections.ts'
import type { ErrorDetail } from './errors.ts'

/**
 * An integration in an organization in a list. For people a list leaves out settings and their `problems`.
 */
export interface ListedInstallation {
  object: 'installation'
  id: string
  integration: string
  /**
   * `pending`: its settings are not complete. `paused`: by a person. `suspended`: its script ended its processes too often.
   */
  status: 'pending' | 'active' | 'paused' | 'suspended'
  /**
   * A reason for each setting that is missing or does not fit.
   */
  problems?: ErrorDetail[]
  /**
   * Why it is suspended, or pending with all its settings.
   */
  statusReason?: string
  suspendedAt?: Time
  configuration?: Configuration
  connections?: Connections
  labels?: Labels
  unconfirmed?: Unconfirmed
  externalIds: string[]
  /**
   * Where it is installed.
   */
  target: {
    /**
     * The id of the organization.
     */
    organization: string
  }
  /**
   * Ids of the spaces that it is installed in, the oldest 1,000.
   */
  spaces: string[]
  /**
   * `all`: each new space gets the integration. `selected`: people install it there.
   */
  space_selection?: 'all' | 'selected'
  /**
   * As `space_selection`, for sites.
   */
  site_selection?: 'all' | 'selected'
  /**
   * Its addresses.
   */
  urls: {
    /**
     * Its page in Annex.
     */
    app: string
    publicEndpoint: string
    /**
     * The same address.
     */
    publicContentEndpoint?: string
  }
  previousSecretUntil?: Time
  /**
   * In the answer to an edit: the id of its setup event. Without it the edit has changed nothing.
   */
  setupEvent?: string
  createdAt: Time
  updatedAt: Time
}

/**
 * An integration in an organization.
 */
export type Installation = ListedInstallation & {
  configuration: Configuration
}

/**
 * Installations.
 */
export interface InstallationList {
  items: ListedInstallation[]
  next?: NextPage
  count: number
}

/**
 * A new installation.
 */
export type NewInstallation = Installation & NewSecret

/**
 * A secret that is shown this once.
 */
export interface NewSecret {
  signingSecret: string
}

/**
 * Where to install, and what the installer agrees to.
 */
export interface InstallRequest {
  /**
   * By its id or subdomain. Default: that of the token.
   */
  organization?: string
  /**
   * For an unlisted integration.
   */
  installKey?: string
  /**
   * The number of the version that the installer has read. Without it nothing is installed.
   */
  version?: number
  /**
   * All scopes of that version: an empty list where it has none. Without them nothing is installed.
   *
   * @maxItems 100
   */
  scopes?: string[]
  /**
   * With false, the answer lists what the version asks for, and installs nothing. True alone is no agreement.
   */
  agree?: boolean
}

/**
 * The spaces and sites that an installation is in.
 */
export interface PlaceSelection {
  spaces?: 'all' | 'selected'
  sites?: 'all' | 'selected'
}

/**
 * What replaces the settings of a level.
 */
export interface LevelEdit {
  configuration?: {
    [k: string]: unknown
  }
  /**
   * @maxItems 50
   */
  externalIds?: string[]
  /**
   * For scripts: stored values that stay. `settings`: those that people made.
   */
  keep?: 'settings' | 'all'
  connection?: ConnectionEdit
}

/**
 * Sizes of stored values.
 */
export interface StorageList {
  items: LevelStorage[]
  count: number
}

/**
 * What a script stores for one level.
 */
export interface LevelStorage {
  object: 'storage'
  level: 'installation' | 'site' | 'space'
  /**
   * The id of the site.
   */
  site?: string
  /**
   * The id of the space.
   */
  space?: string
  /**
   * The number of values.
   */
  keys: number
  /**
   * Of keys and values, and 100 for each.
   */
  bytes: number
}

/**
 * The value of one setting.
 */
export interface SettingValue {
  value: unknown
  /**
   * The text that stands for the value in a list of choices.
   */
  label?: string
}

/**
 * The account that is `held`, as it was read.
 */
export interface AcceptedAccount {
  account: string
}

/**
 * How to rotate a signing secret. A caller cannot choose the secret, as it may be weak.
 */
export interface SecretRotation {
  /**
   * How long the old secret signs too. Default: a day.
   */
  overlapSeconds?: number
  /**
   * Default: `old`.
   */
  first?: 'new' | 'old'
  /**
   * Replaces a new secret that was lost. The old one stays.
   */
  again?: boolean
}

/**
 * A new signing secret, shown this once.
 */
export interface SigningSecret {
  object: 'signing-secret'
  signingSecret: string
  previousSecretUntil?: Time
}

/**
 * An installation in a site in a list. For people a list leaves out settings and their `problems`.
 */
export interface ListedSiteInstallation {
  object: 'site-installation'
  integration: string
  installation: string
  /**
   * The id of the site.
   */
  site: string
  /**
   * `pending`: its settings are not complete. `paused`: by a person. `suspended`: its script ended its processes too often.
   */
  status: 'pending' | 'active' | 'paused' | 'suspended'
  /**
   * A reason for each setting that is missing or does not fit.
   */
  problems?: ErrorDetail[]
  /**
   * Why it is pending with all its settings.
   */
  statusReason?: string
  configuration?: Configuration
  connections?: Connections
  labels?: Labels
  unconfirmed?: Unconfirmed
  externalIds: string[]
  /**
   * Its addresses.
   */
  urls: {
    publicEndpoint: string
    /**
     * The same address.
     */
    publicContentEndpoint?: string
    /**
     * For a script tag in the pages of the site. With the scope `site:script:inject`.
     */
    publishedScript?: string
    /**
     * Where the site sends visitors to sign in. With the scope `site:visitor:auth`.
     */
    visitorAuthentication?: string
  }
  previousSecretUntil?: Time
  /**
   * In the answer to an edit: the id of its setup event. Without it the edit has changed nothing.
   */
  setupEvent?: string
  createdAt: Time
  updatedAt: Time
}

/**
 * An installation in a site.
 */
export type SiteInstallation = ListedSiteInstallation & {
  configuration: Configuration
}

/**
 * Installations in sites.
 */
export interface SiteInstallationList {
  items: ListedSiteInstallation[]
  next?: NextPage
  count: number
}

/**
 * A new installation in a site.
 */
export type NewSiteInstallation = SiteInstallation & NewSecret

/**
 * Where to install.
 */
export interface SiteToInstallIn {
  /**
   * Its id or slug.
   */
  site: string
}

/**
 * An installation in a space in a list. For people a list leaves out settings and their `problems`.
 */
export interface ListedSpaceInstallation {
  object: 'space-installation'
  integration: string
  installation: string
  /**
   * The id of the space.
   */
  space: string
  /**
   * `pending`: its settings are not complete. `paused`: by a person. `suspended`: its script ended its processes too often.
   */
  status: 'pending' | 'active' | 'paused' | 'suspended'
  /**
   * A reason for each setting that is missing or does not fit.
   */
  problems?: ErrorDetail[]
  /**
   * Why it is pending with all its settings.
   */
  statusReason?: string
  configuration?: Configuration
  connections?: Connections
  labels?: Labels
  unconfirmed?: Unconfirmed
  externalIds: string[]
  /**
   * Its addresses.
   */
  urls: {
    publicEndpoint: string
    /**
     * The same address.
     */
    publicContentEndpoint?: string
  }
  previousSecretUntil?: Time
  /**
   * In the answer to an edit: the id of its setup event. Without it the edit has changed nothing.
   */
  setupEvent?: string
  createdAt: Time
  updatedAt: Time
}

/**
 * An installation in a space.
 */
export type SpaceInstallation = ListedSpaceInstallation & {
  configuration: Configuration
}

/**
 * Installations in spaces.
 */
export interface SpaceInstallationList {
  items: ListedSpaceInstallation[]
  next?: NextPage
  count: number
}

/**
 * A new installation in a space.
 */
export type NewSpaceInstallation = SpaceInstallation & NewSecret

/**
 * Where to install.
 */
export interface SpaceToInstallIn {
  /**
   * Its id or slug.
   */
  space: string
}

export interface ListInstallationsQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
  /**
   * Only of this integration, by its name.
   */
  integration?: string
  /**
   * Only those in this site, by its id.
   */
  site?: string
  /**
   * Only those in this space, by its id.
   */
  space?: string
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface ListIntegrationInstallationsQuery {
  /**
   * Only those with this external id.
   */
  externalId?: string
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface ListIntegrationInstallationSitesQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface ListIntegrationInstallationSpacesQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface InstallationsOperations {
  listInstallations: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: ListInstallationsQuery
    body: undefined
    answer: InstallationList
  }
  getInstallation: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { installation: string }
    query: object
    body: undefined
    answer: Installation
  }
  listIntegrationInstallations: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'integration'
    params: { integration: string }
    query: ListIntegrationInstallationsQuery
    body: undefined
    answer: InstallationList
  }
  installIntegration: {
    roles: 'admin' | 'operator'
    params: { integration: string }
    query: object
    body: InstallRequest
    answer: NewInstallation
  }
  getIntegrationInstallationById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string }
    query: object
    body: undefined
    answer: Installation
  }
  updateIntegrationInstallation: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string }
    query: object
    body: LevelEdit
    answer: Installation
  }
  uninstallIntegration: {
    roles: 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: undefined
    answer: void
  }
  getIntegrationSiteInstallation: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; site: string }
    query: object
    body: undefined
    answer: SiteInstallation
  }
  updateIntegrationSiteInstallation: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; site: string }
    query: object
    body: LevelEdit
    answer: SiteInstallation
  }
  uninstallIntegrationFromSite: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string }
    query: object
    body: undefined
    answer: void
  }
  getIntegrationSpaceInstallation: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; space: string }
    query: object
    body: undefined
    answer: SpaceInstallation
  }
  updateIntegrationSpaceInstallation: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; space: string }
    query: object
    body: LevelEdit
    answer: SpaceInstallation
  }
  uninstallIntegrationFromSpace: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string }
    query: object
    body: undefined
    answer: void
  }
  pauseInstallation: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: undefined
    answer: Installation
  }
  resumeInstallation: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: undefined
    answer: Installation
  }
  selectPlaces: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: PlaceSelection
    answer: Installation
  }
  listInstallationStorage: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string }
    query: object
    body: undefined
    answer: StorageList
  }
  listIntegrationInstallationSites: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string }
    query: ListIntegrationInstallationSitesQuery
    body: undefined
    answer: SiteInstallationList
  }
  installIntegrationOnSite: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: SiteToInstallIn
    answer: NewSiteInstallation
  }
  listIntegrationInstallationSpaces: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string }
    query: ListIntegrationInstallationSpacesQuery
    body: undefined
    answer: SpaceInstallationList
  }
  installIntegrationOnSpace: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: SpaceToInstallIn
    answer: NewSpaceInstallation
  }
  putInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; property: string }
    query: object
    body: SettingValue
    answer: Installation
  }
  deleteInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; property: string }
    query: object
    body: undefined
    answer: Installation
  }
  putSiteInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string; property: string }
    query: object
    body: SettingValue
    answer: SiteInstallation
  }
  deleteSiteInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string; property: string }
    query: object
    body: undefined
    answer: SiteInstallation
  }
  putSpaceInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string; property: string }
    query: object
    body: SettingValue
    answer: SpaceInstallation
  }
  deleteSpaceInstallationSetting: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string; property: string }
    query: object
    body: undefined
    answer: SpaceInstallation
  }
  acceptInstallationConnection: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; property: string }
    query: object
    body: AcceptedAccount
    answer: Installation
  }
  refuseInstallationConnection: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; property: string }
    query: object
    body: undefined
    answer: Installation
  }
  acceptSiteInstallationConnection: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string; property: string }
    query: object
    body: AcceptedAccount
    answer: SiteInstallation
  }
  refuseSiteInstallationConnection: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string; property: string }
    query: object
    body: undefined
    answer: SiteInstallation
  }
  acceptSpaceInstallationConnection: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string; property: string }
    query: object
    body: AcceptedAccount
    answer: SpaceInstallation
  }
  refuseSpaceInstallationConnection: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string; property: string }
    query: object
    body: undefined
    answer: SpaceInstallation
  }
  rotateInstallationSecret: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: SecretRotation
    answer: SigningSecret
  }
  rotateSiteInstallationSecret: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string }
    query: object
    body: SecretRotation
    answer: SigningSecret
  }
  rotateSpaceInstallationSecret: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string }
    query: object
    body: SecretRotation
    answer: SigningSecret
  }
  endInstallationSecretOverlap: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: undefined
    answer: void
  }
  endSiteInstallationSecretOverlap: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string }
    query: object
    body: undefined
    answer: void
  }
  endSpaceInstallationSecretOverlap: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string }
    query: object
    body: undefined
    answer: void
  }
}
