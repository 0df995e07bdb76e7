import type { RuntimeContext } from '../context.ts'
import type { Installation } from '../environment.ts'
import { ExposableError } from '../exposable-error.ts'
import { expiryOf } from './token-expiry.ts'

/** A provider's answer to a code or a refresh token. Providers add fields of their own. */
export type OAuthAnswer = {
  access_token?: string
  refresh_token?: string
  /** Seconds until the access token expires. Some providers send a text, or `expires_at` or `expires` instead. */
  expires_in?: number | string
  [field: string]: unknown
}

/**
 * A provider's answer with the types that the other platform gives it. Annex does not check that the provider has sent these
 * fields.
 */
export type OAuthResponse = {
  ok?: boolean
  access_token: string
  refresh_token?: string
  expires_in: number
  // biome-ignore lint/suspicious/noExplicitAny: scripts read the fields of their provider
  [field: string]: any
}

/** The credentials at `configuration.oauth_credentials`, with the types that the other platform gives them. */
export type OAuthConfiguration = {
  access_token: string
  refresh_token?: string
  /** Milliseconds since 1970. The other platform types it as a text. */
  // biome-ignore lint/suspicious/noExplicitAny: a number here, a text there
  expires_at?: any
}

/** The credentials at `configuration.oauth_credentials`. `expires_at` is in milliseconds since 1970. */
export type OAuthCredentials = { access_token: string; refresh_token?: string; expires_at?: number }

/**
 * The update of the installation, site or space when the provider has answered. `account` names the account that is
 * connected: people see it beside the button. Another account than before is stored after a person's yes.
 */
export type ExtractedCredentials = {
  configuration?: Record<string, unknown>
  externalIds?: string[]
  account?: string
}

type ForInstallation = string | ((installation: Installation) => string)

/** The client that is registered with a provider, and the provider's addresses. */
export type OAuthConfig = {
  clientId: string
  /** Usually `environment.secrets.NAME`. */
  clientSecret: string
  authorizeURL: ForInstallation
  accessTokenURL: ForInstallation
  /** Where `revokeOAuthTokens` ends tokens (RFC 7009). A provider without such an address keeps them until they expire. */
  revokeURL?: ForInstallation
  /**
   * The address that is registered with the provider, which sends the browser back to it. By default the
   * integration's own endpoint, `https://HOST/x/NAME`, and the path at which the flow began. An address at the endpoint of an
   * installation, site or space becomes that of the integration too.
   */
  redirectURL?: string
  scopes?: string[]
  prompt?: string
  /** Proof Key for Code Exchange (RFC 7636): a stolen code is worth nothing. Off by default: some providers refuse it. */
  pkce?: boolean
  /** The provider's issuer, with which `iss` of its answers is compared. By default the origins are: that of `authorizeURL`. */
  issuer?: string
  /** Says what is stored. By default the tokens, at `configuration.oauth_credentials`. */
  extractCredentials?(
    answer: OAuthResponse,
    context: RuntimeContext,
  ): ExtractedCredentials | Promise<ExtractedCredentials>
}

/** The default of `extractCredentials`: the tokens at `configuration.oauth_credentials`. */
export const defaultOAuthExtractCredentials = (answer: OAuthAnswer): ExtractedCredentials => {
  if (typeof answer.access_token !== 'string' || answer.access_token === '')
    throw new Error('The provider answered without an access token')
  const credentials: OAuthCredentials = { access_token: answer.access_token }
  if (typeof answer.refresh_token === 'string' && answer.refresh_token !== '')
    credentials.refresh_token = answer.refresh_token
  const expiry = expiryOf(answer, Date.now())
  if (expiry !== undefined) credentials.expires_at = expiry
  return { configuration: { oauth_credentials: credentials } }
}

/** The account that an ID token of OpenID Connect names. It is shown alone, so its signature does not matter. */
export const accountOf = (idToken: unknown): string | undefined => {
  if (typeof idToken !== 'string') return undefined
  try {
    const payload = atob((idToken.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'))
    const text = new TextDecoder().decode(Uint8Array.from(payload, (byte) => byte.charCodeAt(0)))
    const claims = JSON.parse(text) as Record<string, unknown>
    const named = claims.email ?? claims.preferred_username ?? claims.name ?? claims.sub
    return typeof named === 'string' ? named : undefined
  } catch {
    return undefined
  }
}

/** The client's fields of a request. A value that is missing would be sent to the provider as the text "undefined". */
export const clientFields = ({
  clientId,
  clientSecret,
}: OAuthConfig): { client_id: string; client_secret: string } => {
  const fields = { client_id: clientId, client_secret: clientSecret }
  for (const [name, value] of Object.entries<unknown>(fields)) {
    const isMissing =
      typeof value !== 'string' || value === 'undefined' || (value === '' && name === 'client_id')
    if (isMissing)
      throw new ExposableError(
        `The integration has no ${name} for its provider. Its secrets or settings lack it.`,
        503,
      )
  }
  return fields
}

/** An address of the provider. It may depend on the installation. */
export const resolveUrl = (url: ForInstallation, installation: Installation): string =>
  typeof url === 'function' ? url(installation) : url
