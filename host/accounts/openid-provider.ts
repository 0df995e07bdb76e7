import * as client from 'openid-client'
import { AnnexError, messageOf } from '../errors.ts'

/** What the provider says about a person. */
export type Claims = { iss: string; sub: string } & { readonly [name: string]: unknown }

/** What a flow keeps until its callback. */
export type FlowSecrets = { state: string; nonce: string; verifier: string; redirectUri: string }

/** The OpenID provider of the settings. */
export type OpenidProvider = {
  name: string
  /** The address at the provider that begins a flow. @throws AnnexError `unavailable` */
  begin: (flow: FlowSecrets, given: { again: boolean }) => Promise<string>
  /**
   * Exchanges the code of a callback for the claims of a person.
   *
   * @param query of the callback: code, state and iss, or an error
   * @throws AnnexError `unauthorized` for an answer that is refused, or that is none for this flow, `unavailable`
   */
  finish: (flow: FlowSecrets, query: URLSearchParams) => Promise<Claims>
}

export type OpenidSettings = {
  OPENID_ISSUER: string
  OPENID_CLIENT_ID: string
  OPENID_CLIENT_SECRET: string
  OPENID_NAME: string
  OPENID_SCOPES: readonly string[]
  OPENID_ROLES_CLAIM: string
}

const timeoutSeconds = 10
/** The provider may change its addresses. Its keys are read again when one is missing. */
const discoveredMs = 60 * 60 * 1000
/** OpenID Connect Core 1.0, section 2. */
const subjectPattern = /^[\x20-\x7e]{1,255}$/

/**
 * The issuer is asked directly, and not through the egress guard: the operator names it, and it is often in the LAN. It is asked at
 * the first use: Annex starts without it.
 *
 * @param onUnavailable gets the reason for the log: it may name addresses of the LAN, and a visitor gets none
 * @returns undefined without OPENID_ISSUER
 */
export function createOpenidProvider(
  settings: OpenidSettings,
  onUnavailable: (reason: string) => void,
): OpenidProvider | undefined {
  if (settings.OPENID_ISSUER === '') return undefined
  const issuer = new URL(settings.OPENID_ISSUER)
  const name = settings.OPENID_NAME || issuer.host
  const discover = keepFor(discoveredMs, () => readConfiguration(issuer, settings))
  return {
    name,
    async begin({ state, nonce, verifier, redirectUri }, { again }) {
      const config = await configuration()
      const url = client.buildAuthorizationUrl(config, {
        ...{
          redirect_uri: redirectUri,
          state,
          nonce,
          scope: ['openid', ...settings.OPENID_SCOPES].join(' '),
        },
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(again && { prompt: 'login', max_age: '0' }),
      })
      return url.href
    },
    async finish({ state, nonce, verifier, redirectUri }, query) {
      const config = await configuration()
      const tokens = await answered(() =>
        client.authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
          ...{
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: verifier,
            idTokenExpected: true,
          },
        }),
      )
      const claims = tokens.claims()
      if (claims === undefined || !subjectPattern.test(claims.sub)) {
        throw refused('its ID token has no "sub" of 1 to 255 ASCII characters')
      }
      if ([settings.OPENID_ROLES_CLAIM, 'email'].every((claim) => Object.hasOwn(claims, claim))) return claims
      // Many providers send groups and email with the user info alone.
      if (config.serverMetadata().userinfo_endpoint === undefined) return claims
      const more = await answered(() => client.fetchUserInfo(config, tokens.access_token, claims.sub))
      return { ...more, ...claims }
    },
  }

  function configuration(): Promise<client.Configuration> {
    return discover().catch((error) => {
      throw unavailable('does not answer as an OpenID provider', error)
    })
  }

  async function answered<Value>(ask: () => Promise<Value>): Promise<Value> {
    try {
      return await ask()
    } catch (error) {
      throw toAnnexError(error)
    }
  }

  function toAnnexError(error: unknown): AnnexError {
    if (error instanceof client.AuthorizationResponseError) {
      const text =
        error.error === 'access_denied'
          ? `${name} has refused the sign-in, or you have cancelled it.`
          : `${name} has answered with the error ${toCode(error.error)}.`
      return new AnnexError('unauthorized', `${text} ${again}`, { cause: error })
    }
    if (error instanceof client.ResponseBodyError) {
      if (error.error === 'invalid_grant') return refused('its code was used before, or has expired', error)
      return unavailable(`refuses this Annex with the error ${toCode(error.error)}`, error)
    }
    const code = (error as { code?: unknown }).code
    if (typeof code === 'string' && mismatches.has(code)) return refused(reasonOf(error), error)
    return unavailable('does not answer as an OpenID provider', error)
  }

  function unavailable(what: string, cause: unknown): AnnexError {
    onUnavailable(reasonOf(cause))
    const text = `${name} ${what}. Try again later, or sign in by a password or passkey. The log of Annex says more to its operator.`
    return new AnnexError('unavailable', text, { cause })
  }

  function refused(why: string, cause?: unknown): AnnexError {
    return new AnnexError('unauthorized', `The answer of ${name} is not valid: ${why}. ${again}`, { cause })
  }
}

const again = 'Start the sign-in again.'

/** Codes of `openid-client` for an answer that arrived, and is wrong. */
const mismatches: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
])

/** An error's code is the provider's text. */
const toCode = (code: string): string => (/^\w{1,50}$/.test(code) ? code : 'without a known code')

/** The library names the claim in the cause: `unexpected JWT "aud" (audience) claim value`. */
function reasonOf(error: unknown): string {
  const cause = (error as { cause?: unknown }).cause
  return messageOf(cause instanceof Error ? cause : error)
}

async function readConfiguration(issuer: URL, settings: OpenidSettings): Promise<client.Configuration> {
  const { OPENID_CLIENT_ID, OPENID_CLIENT_SECRET } = settings
  const config = await client.discovery(
    issuer,
    OPENID_CLIENT_ID,
    undefined,
    toClientAuth(OPENID_CLIENT_SECRET),
    {
      timeout: timeoutSeconds,
      execute: [
        // Verifies the signature of an ID token, though TLS has protected it.
        client.enableNonRepudiationChecks,
        ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    },
  )
  const found = config.serverMetadata().issuer
  // Attack: the library takes the shared issuers of Microsoft, whose tenants are strangers.
  if (new URL(found).href === issuer.href) return config
  throw new Error(`it names itself ${found}, and OPENID_ISSUER is ${settings.OPENID_ISSUER}`)
}

/** By HTTP Basic, as each provider does that names no ways (OpenID Connect Discovery 1.0, section 3), else in the body. */
function toClientAuth(secret: string): client.ClientAuth {
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]
  return (server, ...rest) => {
    const ways = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return (ways.includes('client_secret_basic') ? basic : post)(server, ...rest)
  }
}

/** Shares one read among all that ask meanwhile. A failed read is not kept. */
function keepFor<Value>(ms: number, read: () => Promise<Value>): () => Promise<Value> {
  let kept: { value: Promise<Value>; until: number } | undefined
  return () => {
    if (kept !== undefined && kept.until > performance.now()) return kept.value
    const value = read()
    const mine = { value, until: performance.now() + ms }
    kept = mine
    value.catch(() => {
      if (kept === mine) kept = undefined
    })
    return value
  }
}
