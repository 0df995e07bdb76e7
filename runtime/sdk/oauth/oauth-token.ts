import type { RuntimeContext } from '../context.ts'
import { ExposableError } from '../exposable-error.ts'
import { flowStateOf } from './flow-state.ts'
import { extractTokens, type OAuthConfig, type OAuthCredentials, resolveUrl } from './oauth-config.ts'
import { storeCredentials } from './store-credentials.ts'
import { requestToken } from './token-request.ts'

/** A token with less than this left is refreshed: it must outlive the request that it is for. */
const leastValidityMs = 10_000

/**
 * The access token of `credentials`, refreshed and stored where it has under 10 s left. Throws an
 * ExposableError where there are no credentials.
 */
export const getOAuthToken = async <Context extends RuntimeContext<unknown> = RuntimeContext>(
  credentials: OAuthCredentials | undefined,
  config: OAuthConfig,
  given: Context,
): Promise<string> => {
  const context = given as unknown as RuntimeContext
  const { installation } = context.environment
  const place = flowStateOf(context.environment)
  if (credentials?.access_token === undefined || installation === undefined || place === undefined) {
    throw new ExposableError('This installation is not connected with the provider yet', 401)
  }
  const { refresh_token: refreshToken, expires_at: expiresAt } = credentials
  const fresh = expiresAt === undefined || expiresAt - Date.now() >= leastValidityMs
  if (fresh || refreshToken === undefined) return credentials.access_token

  const answer = await requestToken(resolveUrl(config.accessTokenURL, installation), {
    grant_type: 'refresh_token',
    client_id: config.clientId,
    client_secret: config.clientSecret,
    refresh_token: refreshToken,
  })
  // RFC 6749, 6: a provider that sends no new refresh token lets the old one live.
  const extract = config.extractCredentials ?? extractTokens
  const renewed = await extract({ refresh_token: refreshToken, ...answer }, context)
  await storeCredentials(place, renewed, { replace: false }, context)
  return answer.access_token ?? credentials.access_token
}
