import type { RuntimeEnvironment } from '../environment.ts'
import { type FlowLevel, flowLevelOf } from './flow-state.ts'
import type { OAuthCredentials } from './oauth-config.ts'

/** Where credentials are stored: the level, and the names there. */
export type Holder = { level: FlowLevel; names: string[] }

/**
 * The level and the names that hold the credentials. A site's configuration has the account's values too, so the account
 * is asked first. A connection is stored under `oauth_credentials` and its button.
 */
export const holderOf = (credentials: OAuthCredentials, environment: RuntimeEnvironment): Holder => {
  const { installation, spaceInstallation, siteInstallation } = environment
  const deepest = flowLevelOf(environment) ?? { installationId: '' }
  const levels = [
    { level: { installationId: deepest.installationId }, configuration: installation?.configuration },
    { level: deepest, configuration: (siteInstallation ?? spaceInstallation)?.configuration },
  ]
  for (const { level, configuration = {} } of levels) {
    const holding = Object.entries(configuration).filter(([, value]) =>
      isSame(toCredentials(value), credentials),
    )
    // `oauth_credentials` first: it is what the reference platform's scripts read.
    const names = holding.map(([name]) => name).sort((one) => (one === 'oauth_credentials' ? -1 : 1))
    if (names.length > 0) return { level, names }
  }
  return { level: deepest, names: ['oauth_credentials'] }
}

export const isSame = (one: OAuthCredentials | undefined, other: OAuthCredentials): boolean =>
  one?.access_token === other.access_token && one.refresh_token === other.refresh_token

/** A stored value may have any type. */
export const toCredentials = (value: unknown): OAuthCredentials | undefined => {
  if (typeof value !== 'object' || value === null) return undefined
  return 'access_token' in value && typeof value.access_token === 'string'
    ? (value as OAuthCredentials)
    : undefined
}
