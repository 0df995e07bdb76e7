/** Settings of one level. Values are what the manifest declares: texts, numbers, booleans, credentials. */
export type Settings = object

/** What a manifest declares, as the types that are generated from it. */
export type IntegrationTypes = {
  name: string
  settings: { account: Settings; site: Settings; space: Settings }
  secrets: Record<string, string>
  scopes: string
}

/** An integration without generated types: any setting may be read, and is `unknown`. */
export type UntypedIntegration = {
  name: string
  settings: {
    account: Record<string, unknown>
    site: Record<string, unknown>
    space: Record<string, unknown>
  }
  secrets: Record<string, string>
  scopes: string
}

export type InstallationStatus = 'active' | 'pending' | 'paused'

/** A site's or space's values lie over those of the account. */
export type Merged<Account, Own> = Omit<Account, keyof Own> & Own

/** What a script reads at `context.environment`. */
export type RuntimeEnvironment<Integration extends IntegrationTypes = UntypedIntegration> = {
  apiEndpoint: string
  apiTokens: { integration: string; installation?: string }
  integration: {
    name: Integration['name']
    version: number
    title: string
    scopes: Integration['scopes'][]
    urls: { publicEndpoint: string; publicContentEndpoint?: string; [name: string]: string | undefined }
    externalLinks: { label: string; url: string }[]
    [field: string]: unknown
  }
  installation?: Installation<Integration['settings']['account']>
  spaceInstallation?: {
    space: string
    status: InstallationStatus
    configuration: Merged<Integration['settings']['account'], Integration['settings']['space']>
    urls: { publicEndpoint: string; [name: string]: string | undefined }
  }
  siteInstallation?: {
    site: string
    status: InstallationStatus
    configuration: Merged<Integration['settings']['account'], Integration['settings']['site']>
    urls: { publicEndpoint: string; [name: string]: string | undefined }
  }
  secrets: Integration['secrets']
  signingSecrets: {
    integration: string
    installation?: string
    spaceInstallation?: string
    siteInstallation?: string
  }
}

export type Installation<Configuration extends Settings = Record<string, unknown>> = {
  id: string
  status: InstallationStatus
  configuration: Configuration
  externalIds: string[]
  urls: { publicEndpoint: string; [name: string]: string | undefined }
  target?: { organization?: string; [field: string]: unknown }
  [field: string]: unknown
}
