import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

export type OidcProvider = {
  url: string
  /** Each token request: its grant type. `revoked`: the client has ended a grant. */
  asked: string[]
  /** The redirect addresses of its client. Until then it answers nothing. */
  register: (redirectUris: string[]) => void
  /** Ends all grants, as a user does who takes the access back. */
  revokeAll: () => Promise<void>
  close: () => void
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

/**
 * A certified OpenID provider. Its user is at once logged in as the cookie `as` says, and agrees to all scopes, unless it is `refuser`. A refresh
 * token counts once: with an old one the provider ends the grant.
 *
 * @param given.claimsOf further claims of a user, in the scope `groups`; default: none
 * @param given.authMethod of its client
 * @param given.lifetimes of access tokens in seconds, in the order in which they are issued; the last one goes on
 */
export async function startOidcProvider(
  given: {
    lifetimes?: number[]
    claimsOf?: (user: string) => object
    authMethod?: 'client_secret_post' | 'client_secret_basic'
  } = {},
): Promise<OidcProvider> {
  const { lifetimes = [3600], claimsOf = () => ({}), authMethod = 'client_secret_post' } = given
  const asked: string[] = []
  const grants: (() => Promise<void>)[] = []
  let issued = 0
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    asked,
    register,
    async revokeAll() {
      for (const revoke of grants) await revoke()
    },
    close: () => server.close(),
  }

  function register(redirectUris: string[]): void {
    const provider = new Provider(url, {
      clients: [
        {
          client_id: 'annex',
          client_secret: 'secret-of-the-client',
          redirect_uris: redirectUris,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: authMethod,
        },
      ],
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
      cookies: { keys: ['of the test'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      conformIdTokenClaims: false,
      features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
      pkce: { required: () => false },
      rotateRefreshToken: true,
      issueRefreshToken: async () => true,
      ttl: {
        AccessToken: () => lifetimes[Math.min(issued++, lifetimes.length - 1)] ?? 3600,
        ...{
          AuthorizationCode: 60,
          IdToken: 600,
          RefreshToken: 86_400,
          Session: 600,
          Interaction: 600,
          Grant: 86_400,
        },
      },
      interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: async () => ({ sub: id, email: `${id}@example.com`, ...claimsOf(id) }),
      }),
    })
    provider.on('grant.revoked', () => asked.push('revoked'))
    provider.on('grant.success', ({ oidc }) => asked.push(String(oidc.params?.grant_type)))
    const callback = provider.callback()
    handle = (request, response) => {
      if (request.url?.startsWith('/interaction/')) void interact(provider, request, response)
      else void callback(request, response)
    }
  }

  async function interact(
    provider: Provider,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(request, response)
    const account = /(?:^|; )as=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? 'ada'
    if (account === 'refuser') {
      await provider.interactionFinished(request, response, { error: 'access_denied' })
      return
    }
    if (prompt.name === 'login') {
      await provider.interactionFinished(request, response, { login: { accountId: account } })
      return
    }
    const grant = new provider.Grant({
      accountId: session?.accountId ?? account,
      clientId: String(params.client_id),
    })
    grant.addOIDCScope(String(params.scope))
    const grantId = await grant.save()
    grants.push(async () => (await provider.Grant.find(grantId))?.destroy())
    const consent = { consent: { grantId } }
    await provider.interactionFinished(request, response, consent, { mergeWithLastSubmission: true })
  }
}
