import { ApiError } from '../api/api-error.ts'
import type { RuntimeContext } from '../context.ts'
import type { Installation } from '../environment.ts'
import { ExposableError } from '../exposable-error.ts'
import { type Holder, holderOf, isSame, toCredentials } from './credentials-holder.ts'
import {
  clientFields,
  defaultOAuthExtractCredentials,
  type OAuthConfig,
  type OAuthConfiguration,
  type OAuthCredentials,
  type OAuthResponse,
  resolveUrl,
} from './oauth-config.ts'
import { readStored, storeCredentials } from './store-credentials.ts'
import { TokenError } from './token-error.ts'
import { endOf, expiryOf } from './token-expiry.ts'
import { requestToken } from './token-request.ts'

/** A token with less than this left is refreshed: it must outlive the request that it is for. */
const leastValidityMs = 10_000
/** A refresh that has come to no end by then was cut off with the request that began it. */
const longestRefreshMs = 15_000
/** How long the token of a provider counts that does not say how long it is good for. */
const unknownLifetimeSeconds = 60
const maxKept = 100

/** After a refusal that an operator may mend, the provider is asked again then. */
const retryAfterMs = 5 * 60_000

type Refresh = { since: number; renewed?: OAuthCredentials }

/** By refresh token. Most providers give a token for it once: of parallel requests one asks, the others take its answer. */
const refreshes = new Map<string, Refresh>()

/**
 * Gives the access token of `credentials`, refreshed and stored where it has under 10 s left. Parallel requests refresh
 * it once, on all hosts. A refresh that fails on its way is tried three times. Where the provider refuses the grant,
 * the connection is `broken`, and the provider is asked no more until the account is connected again.
 *
 * @param credentials those that `createOAuthHandler` stored, at `configuration.oauth_credentials`
 * @param config the same as that of `createOAuthHandler`
 * @param given the context of the handler
 * @returns the access token
 * @throws ExposableError with 401 where there are no credentials, no installation, or the provider has ended the grant
 * @throws Error where the provider cannot refresh the token now
 */
export const getOAuthToken = async <Context extends RuntimeContext<unknown> = RuntimeContext>(
  credentials: Partial<OAuthConfiguration> | undefined,
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

const isFresh = ({ expires_at, refresh_token }: OAuthCredentials): boolean => {
  const end = endOf(expires_at, Date.now())
  // `expires_at` of the SDK is a time, also one long ago.
  const expiry = typeof expires_at === 'number' && expires_at < 1e9 ? expires_at : end
  return expiry === undefined || !refresh_token || expiry - Date.now() >= leastValidityMs
}

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
    const stored = toCredentials((await readStored(holder.level, context))[holder.names[0] ?? ''])
    if (stored !== undefined && !isSame(stored, current)) current = stored
    const { refresh_token: refreshToken } = current
    if (!refreshToken || isFresh(current)) return current.access_token
    const refresh = refreshes.get(refreshToken)
    if (refresh?.renewed !== undefined && isFresh(refresh.renewed)) return refresh.renewed.access_token
    const isUnderWay = refresh !== undefined && Date.now() - refresh.since < longestRefreshMs
    const isMine = (!isUnderWay || refresh.renewed !== undefined) && (await claim(holder, current, context))
    if (isMine) {
      const work = refreshOnce(refreshToken, holder, config, context, installation)
      // The provider may give no second token for this one: it is stored although the answer was sent meanwhile.
      context.waitUntil(work.catch(() => {}))
      return (await work).access_token
    }
    // Code that waits for a promise of another request goes on in that request, and ends with it. A timer is its own.
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/**
 * False while another sandbox refreshes, and when it has: with two refreshes at once, or an old refresh token, a provider
 * may suspect a theft and end the grant.
 */
const claim = async (
  { level, names }: Holder,
  credentials: OAuthCredentials,
  context: RuntimeContext,
): Promise<boolean> => {
  try {
    const stored = await storeCredentials(level, { connection: { names, step: 'claim' } }, context)
    const current = toCredentials(stored[names[0] ?? ''])
    if (current === undefined || isSame(current, credentials)) return true
    await storeCredentials(level, { connection: { names, step: 'renewed' } }, context)
    return false
  } catch (error) {
    if (error instanceof ApiError && error.errorCode === 'connection_broken') throw broken()
    if (error instanceof ApiError && error.status === 409) return false
    throw error
  }
}

const refreshOnce = async (
  refreshToken: string,
  { level, names }: Holder,
  config: OAuthConfig,
  context: RuntimeContext,
  installation: Installation,
): Promise<OAuthCredentials> => {
  const refresh: Refresh = { since: Date.now() }
  refreshes.set(refreshToken, refresh)
  try {
    const answer = await requestToken(resolveUrl(config.accessTokenURL, installation), {
      grant_type: 'refresh_token',
      ...clientFields(config),
      refresh_token: refreshToken,
    })
    // RFC 6749, 6: a provider that sends no new refresh token lets the old one live.
    const extracted = await (config.extractCredentials ?? defaultOAuthExtractCredentials)(
      { ...answer, refresh_token: answer.refresh_token || refreshToken } as OAuthResponse,
      context,
    )
    const { account: _, configuration = {}, ...more } = extracted
    const { oauth_credentials: credentials, ...others } = configuration
    const renewed =
      credentials === undefined ? {} : Object.fromEntries(names.map((name) => [name, credentials]))
    await storeCredentials(
      level,
      {
        ...more,
        configuration: { ...others, ...renewed },
        keep: 'all',
        connection: { names, step: 'renewed' },
      },
      context,
    )
    refresh.renewed = toCredentials(credentials) ?? {
      ...{ access_token: String(answer.access_token), refresh_token: refreshToken },
      expires_at: expiryOf(answer, Date.now()) ?? Date.now() + unknownLifetimeSeconds * 1000,
    }
    const [oldest] = refreshes.keys()
    if (refreshes.size > maxKept && oldest !== undefined) refreshes.delete(oldest)
    return refresh.renewed
  } catch (error) {
    refreshes.delete(refreshToken)
    // Another host may have been first.
    const stored = toCredentials((await readStored(level, context))[names[0] ?? ''])
    if (stored !== undefined && stored.refresh_token !== refreshToken && isFresh(stored)) return stored
    if (!(error instanceof TokenError) || error.consequence === 'later') {
      await storeCredentials(level, { connection: { names, step: 'renewed' } }, context)
      throw error
    }
    const refusal = { names, error: error.reason ?? `status ${error.status}` }
    const retry = error.consequence === 'refused' ? { retryAfterMs } : {}
    await storeCredentials(level, { connection: { ...refusal, ...retry } }, context)
    throw broken()
  }
}

const broken = (): ExposableError =>
  new ExposableError('The provider has ended the connection. Connect it again in the settings.', 401)
