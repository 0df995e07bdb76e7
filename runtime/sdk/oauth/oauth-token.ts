import type { RuntimeContext } from '../context.ts'
import type { Installation } from '../environment.ts'
import { ExposableError } from '../exposable-error.ts'
import { holderOf, isSame, toCredentials } from './credentials-holder.ts'
import {
  defaultOAuthExtractCredentials,
  type OAuthConfig,
  type OAuthCredentials,
  resolveUrl,
} from './oauth-config.ts'
import { readStored, storeCredentials } from './store-credentials.ts'
import { requestToken } from './token-request.ts'

/** A token with less than this left is refreshed: it must outlive the request that it is for. */
const leastValidityMs = 10_000
/** A refresh that has come to no end by then was cut off with the request that began it. */
const longestRefreshMs = 15_000
/** How long the token of a provider counts that does not say how long it is good for. */
const unknownLifetimeSeconds = 60
const maxKept = 100

type Refresh = { since: number; renewed?: OAuthCredentials }

/** By refresh token. Most providers give a token for it once: of parallel requests one asks, the others take its answer. */
const refreshes = new Map<string, Refresh>()

/**
 * Gives the access token of `credentials`, refreshed and stored where it has under 10 s left. Parallel requests refresh
 * it once.
 *
 * @param credentials those that `createOAuthHandler` stored, at `configuration.oauth_credentials`
 * @param config the same as that of `createOAuthHandler`
 * @param given the context of the handler
 * @returns the access token
 * @throws ExposableError with 401 where there are no credentials, or no installation
 * @throws Error where the provider refuses to refresh the token
 */
export const getOAuthToken = async <Context extends RuntimeContext<unknown> = RuntimeContext>(
  credentials: Partial<OAuthCredentials> | undefined,
  config: OAuthConfig,
  given: Context,
): Promise<string> => {
  const context = given as unknown as RuntimeContext
  const { installation } = context.environment
  const known = toCredentials(credentials)
  if (known === undefined || installation === undefined) {
    throw new ExposableError('This installation is not connected with the provider yet', 401)
  }
  return isFresh(known) ? known.access_token : renew(known, config, context, installation)
}

const isFresh = ({ expires_at, refresh_token }: OAuthCredentials): boolean =>
  expires_at === undefined || refresh_token === undefined || expires_at - Date.now() >= leastValidityMs

const renew = async (
  given: OAuthCredentials,
  config: OAuthConfig,
  context: RuntimeContext,
  installation: Installation,
): Promise<string> => {
  const holder = holderOf(given, context.environment)
  let current = given
  for (;;) {
    // Renewed since the environment was read, by this sandbox or another one.
    const stored = toCredentials((await readStored(holder.place, context))[holder.names[0] ?? ''])
    if (stored !== undefined && !isSame(stored, current)) current = stored
    const { refresh_token: refreshToken } = current
    if (refreshToken === undefined || isFresh(current)) return current.access_token
    const refresh = refreshes.get(refreshToken)
    if (refresh?.renewed !== undefined && isFresh(refresh.renewed)) return refresh.renewed.access_token
    const isUnderWay = refresh !== undefined && Date.now() - refresh.since < longestRefreshMs
    if (!isUnderWay || refresh.renewed !== undefined) {
      const work = refreshOnce(refreshToken, holder, config, context, installation)
      // The provider may give no second token for this one: it is stored although the answer was sent meanwhile.
      context.waitUntil(work.catch(() => {}))
      return (await work).access_token
    }
    // Code that waits for a promise of another request goes on in that request, and ends with it. A timer is its own.
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const refreshOnce = async (
  refreshToken: string,
  { place, names }: ReturnType<typeof holderOf>,
  config: OAuthConfig,
  context: RuntimeContext,
  installation: Installation,
): Promise<OAuthCredentials> => {
  const refresh: Refresh = { since: Date.now() }
  refreshes.set(refreshToken, refresh)
  try {
    const answer = await requestToken(resolveUrl(config.accessTokenURL, installation), {
      grant_type: 'refresh_token',
      client_id: config.clientId,
      client_secret: config.clientSecret,
      refresh_token: refreshToken,
    })
    // RFC 6749, 6: a provider that sends no new refresh token lets the old one live.
    const extracted = await (config.extractCredentials ?? defaultOAuthExtractCredentials)(
      { refresh_token: refreshToken, ...answer },
      context,
    )
    const { oauth_credentials: credentials, ...others } = extracted.configuration ?? {}
    const renewed =
      credentials === undefined ? {} : Object.fromEntries(names.map((name) => [name, credentials]))
    await storeCredentials(
      place,
      { ...extracted, configuration: { ...others, ...renewed }, keep: 'all' },
      context,
    )
    refresh.renewed = toCredentials(credentials) ?? {
      ...{ access_token: String(answer.access_token), refresh_token: refreshToken },
      expires_at: Date.now() + (answer.expires_in ?? unknownLifetimeSeconds) * 1000,
    }
    const [oldest] = refreshes.keys()
    if (refreshes.size > maxKept && oldest !== undefined) refreshes.delete(oldest)
    return refresh.renewed
  } catch (error) {
    refreshes.delete(refreshToken)
    // Another host may have been first.
    const stored = toCredentials((await readStored(place, context))[names[0] ?? ''])
    if (stored !== undefined && stored.refresh_token !== refreshToken && isFresh(stored)) return stored
    throw error
  }
}
