import type { RuntimeContext } from '../context.ts'
import type { FetchHandler } from '../definition.ts'
import type { Installation } from '../environment.ts'
import { ExposableError } from '../exposable-error.ts'
import { createVerifier, flowLevelOf, parseStateText, toStateText } from './flow-state.ts'
import {
  accountOf,
  clientFields,
  defaultOAuthExtractCredentials,
  type OAuthConfig,
  type OAuthResponse,
  resolveUrl,
} from './oauth-config.ts'
import { storeCredentials } from './store-credentials.ts'
import { requestToken } from './token-request.ts'

/**
 * Makes a fetch handler for both halves of an OAuth flow. Without `code` it sends the browser to the provider. With
 * `code` it trades the code for tokens, stores them and closes the window. The settings that people made stay.
 *
 * @param config the client and the provider; `redirectURL` is the address to register with the provider
 * @param options `replace: false` keeps what the script has stored before; it is replaced by default
 * @returns the handler, for requests to the `callback_url` of a button
 *   A flow that starts outside of an installation is answered with 400
 * @throws ExposableError in the handler, with 400: the provider refuses, the answer is of another provider, or the flow did
 *   not begin here
 * @throws ExposableError in the handler, with 503: `clientId` or `clientSecret` has no value
 * @throws Error in the handler: the provider answers the token request with an error, or neither by JSON nor by a form
 * @limit a flow ends 10 minutes after its start
 */
export const createOAuthHandler =
  <Context extends RuntimeContext<unknown> = RuntimeContext>(
    config: OAuthConfig,
    options: { replace?: boolean } = {},
  ): FetchHandler<Context> =>
  async (request, given) => {
    const context = given as unknown as RuntimeContext
    const url = new URL(request.url)
    const refusal = url.searchParams.get('error')
    if (refusal !== null) throw new ExposableError(`The provider refused the connection: ${refusal}`)
    // Annex sends a callback to the level where its flow began.
    const { installation } = context.environment
    const level = flowLevelOf(context.environment)
    if (installation === undefined || level === undefined) {
      return new Response('A connection starts at the endpoint of an installation.', { status: 400 })
    }
    const code = url.searchParams.get('code')
    if (code === null) return startFlow(config, url, context, installation)

    const { verifier } = parseStateText(url.searchParams.get('state'))
    assertIssuer(config, url.searchParams.get('iss'), installation)
    const answer = await requestToken(resolveUrl(config.accessTokenURL, installation), {
      grant_type: 'authorization_code',
      ...clientFields(config),
      code,
      redirect_uri: redirectUrl(config, url, context),
      ...(verifier !== undefined && { code_verifier: verifier }),
    })
    const extract = config.extractCredentials ?? defaultOAuthExtractCredentials
    const extracted = await extract(answer as OAuthResponse, context)
    const { account = accountOf(answer.id_token), ...credentials } = extracted
    const keep = options.replace === false ? 'all' : 'settings'
    const connection = { callback: calledPath(url, context), ...(account !== undefined && { account }) }
    await storeCredentials(level, { ...credentials, keep, connection }, context)
    return new Response(closingPage, { headers: { 'content-type': 'text/html; charset=utf-8' } })
  }

const startFlow = async (
  config: OAuthConfig,
  url: URL,
  context: RuntimeContext,
  installation: Installation,
): Promise<Response> => {
  const authorization = new URL(resolveUrl(config.authorizeURL, installation))
  authorization.searchParams.set('client_id', clientFields(config).client_id)
  authorization.searchParams.set('redirect_uri', redirectUrl(config, url, context))
  authorization.searchParams.set('response_type', 'code')
  if (config.scopes !== undefined) authorization.searchParams.set('scope', config.scopes.join(' '))
  if (config.prompt !== undefined) authorization.searchParams.set('prompt', config.prompt)
  const pair = config.pkce === true ? await createVerifier() : undefined
  if (pair !== undefined) {
    authorization.searchParams.set('code_challenge', pair.challenge)
    authorization.searchParams.set('code_challenge_method', 'S256')
  }
  authorization.searchParams.set('state', toStateText(pair === undefined ? {} : { verifier: pair.verifier }))
  return Response.redirect(authorization.href)
}

/** RFC 9207: an answer names its provider, so that a code of another one is not sent to this one. */
const assertIssuer = (config: OAuthConfig, issuer: string | null, installation: Installation): void => {
  if (issuer === null) return
  const expected = config.issuer ?? new URL(resolveUrl(config.authorizeURL, installation)).origin
  const given = config.issuer === undefined ? URL.parse(issuer)?.origin : issuer
  if (given === expected) return
  throw new ExposableError(`The answer is of the provider "${issuer}", and not of "${expected}"`)
}

/**
 * One address for the whole integration, as providers want it registered: its own endpoint, and there the path under which
 * this handler was reached. A script of the other platform names that address by `environment.integration`, which is its
 * installation's here: so an address at an endpoint of this level becomes the integration's.
 */
const redirectUrl = ({ redirectURL }: OAuthConfig, url: URL, context: RuntimeContext): string => {
  const { publicEndpoint, integrationEndpoint = publicEndpoint } = context.environment.integration.urls
  if (redirectURL === undefined) return integrationEndpoint + calledPath(url, context)
  const path = pathWithin(redirectURL, context)
  return path === undefined ? redirectURL : integrationEndpoint + path
}

/** The path below the endpoint that was called. */
const calledPath = (url: URL, context: RuntimeContext): string =>
  pathWithin(url.origin + url.pathname, context) ?? url.pathname

/** The path of an address below the endpoint of the level, or of one above it. */
const pathWithin = (address: string, { environment }: RuntimeContext): string | undefined => {
  const { integration, installation, spaceInstallation, siteInstallation } = environment
  const endpoint = [siteInstallation, spaceInstallation, installation, integration]
    .map((level) => level?.urls.publicEndpoint)
    .find((own) => own !== undefined && (address === own || address.startsWith(`${own}/`)))
  return endpoint === undefined ? undefined : address.slice(endpoint.length)
}

const closingPage = `<!doctype html>
<meta charset="utf-8">
<title>Connected</title>
<p>The connection is set up. You can close this window.</p>
<p>Where another account was connected before, Annex first asks for a yes in the settings.</p>
<script>window.close()</script>
`
