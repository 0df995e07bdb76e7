import type { RuntimeContext } from '../context.ts'
import { toCredentials } from './credentials-holder.ts'
import { flowLevelOf } from './flow-state.ts'
import { clientFields, type OAuthConfig, resolveUrl } from './oauth-config.ts'
import { readStored } from './store-credentials.ts'
import { postForm } from './token-request.ts'

/** A setup event, or the last event of a level. */
export type EndingEvent = { type: string; previous?: { configuration?: Record<string, unknown> } }

/**
 * Revokes the tokens of connections that have ended, at the provider's `revokeURL` (RFC 7009). Call it in the handlers of
 * setup events and last events: a person has disconnected a button, or the integration is being uninstalled. Without
 * `revokeURL` it does nothing. A provider that fails is tried three times; then the log says so.
 *
 * @param event the event of the handler: its `previous` has the tokens
 * @param config the same as that of `createOAuthHandler`
 * @param given the context of the handler
 * @returns the number of connections that were revoked
 */
export const revokeOAuthTokens = async <Context extends RuntimeContext<unknown> = RuntimeContext>(
  event: EndingEvent,
  config: OAuthConfig,
  given: Context,
): Promise<number> => {
  const context = given as unknown as RuntimeContext
  const { installation } = context.environment
  const level = flowLevelOf(context.environment)
  if (config.revokeURL === undefined || installation === undefined || level === undefined) return 0
  const before = Object.entries(event.previous?.configuration ?? {})
  if (before.every(([, value]) => toCredentials(value) === undefined)) return 0
  // A connection whose token was renewed meanwhile still has its name: its old token may not be revoked, as some providers
  // end the whole grant then.
  const stored = event.type.endsWith('_deleted') ? {} : await readStored(level, context)
  const ended = before.flatMap(([name, value]) => {
    const credentials = toCredentials(stored[name]) === undefined ? toCredentials(value) : undefined
    return credentials === undefined ? [] : [credentials]
  })
  // A connection is stored under its button and as `oauth_credentials`. With the refresh token its access tokens end.
  const tokens = new Map(
    ended.map(({ access_token: access, refresh_token: refresh }) => [
      refresh ?? access,
      refresh === undefined ? 'access_token' : 'refresh_token',
    ]),
  )
  let revoked = 0
  for (const [token, hint] of tokens) {
    try {
      await postForm(resolveUrl(config.revokeURL, installation), {
        ...{ token, token_type_hint: hint },
        ...clientFields(config),
      })
      revoked += 1
    } catch (error) {
      console.error('The provider did not revoke the connection.', error)
    }
  }
  return revoked
}
