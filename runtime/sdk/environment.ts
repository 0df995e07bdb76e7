import type { InstallationStatus } from '../../schemas/generated/installation-status.ts'

export type { InstallationStatus }

/** The settings of one level, as the manifest declares them: texts, numbers, booleans, credentials. */
export type Settings = object

/** The shape of the types that `npx annex types` generates from a manifest. */
export type IntegrationTypes = {
  name: string
  settings: { account: Settings; site: Settings; space: Settings }
  /** Names of required settings without a default: only an active installation is sure to have them. */
  required: { account: string; site: string; space: string }
  secrets: Record<string, string>
  scopes: string
}

/** Settings of a script that does not state them. Scripts of the reference platform read them unchecked. */
// biome-ignore lint/suspicious/noExplicitAny: any setting may be read, as any type
type AnySettings = any

/** The types of a script that states its settings itself: a level has them whatever its status is. */
type StatedTypes<Account extends Settings, Place extends Settings> = {
  name: string
  settings: { account: Account; site: Place; space: Place }
  required: { account: never; site: never; space: never }
  secrets: Record<string, string>
  scopes: string
}

/** An integration without generated types, whose script states no settings either. */
export type UntypedIntegration = StatedTypes<AnySettings, AnySettings>

/** `Given` are generated types or the account's settings. With `any`, which extends all types, they are settings. */
type TypesOf<Given extends Settings, Place extends Settings> = string extends keyof Given
  ? StatedTypes<Given, Place>
  : Given extends IntegrationTypes
    ? Given
    : StatedTypes<Given, Place>

/** A site's or space's values lie over those of the account, which may be pending while its site is active. */
type Merged<Integration extends IntegrationTypes, Own> = Omit<
  Incomplete<Integration['settings']['account'], Integration['required']['account']>,
  keyof Own
> &
  Own

/** Settings of a level that is not active. */
type Incomplete<Complete, Required extends PropertyKey> = [Required] extends [never]
  ? Complete
  : Omit<Complete, Required> & Partial<Pick<Complete, Required & keyof Complete>>

/** The settings of a level by its status: an active one has all that are required. */
type ByStatus<Active, Other> =
  | { status: 'active'; configuration: Active }
  | { status: Exclude<InstallationStatus, 'active'>; configuration: Other }

type Level<Integration extends IntegrationTypes, Kind extends 'site' | 'space'> = ByStatus<
  Merged<Integration, Integration['settings'][Kind]>,
  Merged<Integration, Incomplete<Integration['settings'][Kind], Integration['required'][Kind]>>
> & {
  integration: Integration['name']
  /** Id of the installation that the level belongs to. */
  installation: string
  externalIds: string[]
  /** Another text after each edit of the settings. The API client sends it when the script replaces them. */
  configurationVersion: string
  urls: LevelUrls
}

/** `publicContentEndpoint` is the same address: all answers of scripts are shown without the origin of Annex. */
type LevelUrls = { publicEndpoint: string; publicContentEndpoint: string; [name: string]: string | undefined }

/**
 * The environment of a dispatch, with the fields of `EnvironmentOf`. `Given` are the generated types of an integration, or the
 * settings of an account. `Place` are then the settings of a site or space. Settings that a script states do not depend on
 * the status.
 */
export type RuntimeEnvironment<
  Given extends Settings = AnySettings,
  Place extends Settings = AnySettings,
> = EnvironmentOf<TypesOf<Given, Place>>

/**
 * The environment of an integration with generated types: `EnvironmentOf<Integration>`. Its level follows the endpoint that
 * was called, or the event: `installation`, `siteInstallation` and `spaceInstallation` are there at their levels alone.
 */
export type EnvironmentOf<Integration extends IntegrationTypes = UntypedIntegration> = {
  apiEndpoint: string
  apiTokens: { integration: string; installation?: string }
  integration: {
    name: Integration['name']
    version: number
    title: string
    description: string
    scopes: Integration['scopes'][]
    /**
     * `publicEndpoint` is the installation's within an installation, else the integration's. `integrationEndpoint` is always
     * the integration's.
     */
    urls: LevelUrls & { integrationEndpoint: string; app: string; assets: string; icon?: string }
    externalLinks: { label: string; url: string }[]
    [field: string]: unknown
  }
  installation?: Installation<
    Integration['settings']['account'],
    Incomplete<Integration['settings']['account'], Integration['required']['account']>
  >
  spaceInstallation?: { space: string } & Level<Integration, 'space'>
  siteInstallation?: { site: string } & Level<Integration, 'site'>
  secrets: Integration['secrets']
  signingSecrets: {
    integration: string
    installation?: string
    spaceInstallation?: string
    siteInstallation?: string
  }
}

/** An installation. `Active` and `Pending` are its settings while it is active, and while it is not. */
export type Installation<
  Active extends Settings = Record<string, unknown>,
  Pending extends Settings = Active,
> = ByStatus<Active, Pending> & {
  id: string
  externalIds: string[]
  /** Another text after each edit of the settings. The API client sends it when the script replaces them. */
  configurationVersion: string
  /** Ids of the spaces that it is installed in, the oldest 1,000. */
  spaces: string[]
  space_selection: 'all' | 'selected'
  site_selection: 'all' | 'selected'
  /** `app` is the page of the installation in Annex. */
  urls: LevelUrls & { app: string }
  /** `organization` is the id of the organization that has installed the integration. */
  target: { organization: string; [field: string]: unknown }
  [field: string]: unknown
}
