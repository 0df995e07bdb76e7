import type { RuntimeContext } from '../context.ts'
import type { FetchHandler } from '../definition.ts'
import type { Installation } from '../environment.ts'
import { ExposableError } from '../exposable-error.ts'
import { type FlowState, flowPlaceOf, openFlowState, sealFlowState } from './flow-state.ts'
import { defaultOAuthExtractCredentials, type OAuthConfig, resolveUrl } from './oauth-config.ts'
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
 * @throws ExposableError in the handler, with 400: the provider refuses, or `state` was not made here or is too old
 * @throws Error in the handler: the provider answers the token request with an error or no JSON
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
    const code = url.searchParams.get('code')
    if (code === null) return startFlow(config, url, context)

    const state = await openFlowState(url.searchParams.get('state'), context.environment)
    const installation = await installationOf(state, context)
    const answer = await requestToken(resolveUrl(config.accessTokenURL, installation), {
      grant_type: 'authorization_code',
      client_id: config.clientId,
      client_secret: config.clientSecret,
      code,
      redirect_uri: redirectUrl(config, url, context),
    })
    const credentials = await (config.extractCredentials ?? defaultOAuthExtractCredentials)(answer, context)
    const keep = options.replace === false ? 'all' : 'settings'
    await storeCredentials(state, { ...credentials, keep, callback: state.path }, context)
    return new Response(closingPage, { headers: { 'content-type': 'text/html; charset=utf-8' } })
  }

const startFlow = async (config: OAuthConfig, url: URL, context: RuntimeContext): Promise<Response> => {
  const { installation } = context.environment
  const place = flowPlaceOf(context.environment)
  if (installation === undefined || place === undefined) {
    return new Response('A connection starts at the endpoint of an installation.', { status: 400 })
  }
  const target = new URL(resolveUrl(config.authorizeURL, installation))
  target.searchParams.set('client_id', config.clientId)
  target.searchParams.set('redirect_uri', redirectUrl(config, url, context))
  target.searchParams.set('response_type', 'code')
  const state = { ...place, path: pathWithin(url, context) }
  target.searchParams.set('state', await sealFlowState(state, context.environment))
  if (config.scopes !== undefined) target.searchParams.set('scope', config.scopes.join(' '))
  if (config.prompt !== undefined) target.searchParams.set('prompt', config.prompt)
  return Response.redirect(target.href)
}

/**
 * One address for the whole integration, as providers want it registered: its own endpoint, and there the path
 * under which this handler was reached.
 */
const redirectUrl = (config: OAuthConfig, url: URL, context: RuntimeContext): string => {
  if (config.redirectURL !== undefined) return config.redirectURL
  const { integration } = context.environment
  return `${integration.urls.integrationEndpoint ?? integration.urls.publicEndpoint}${pathWithin(url, context)}`
}

/** The path below the endpoint that was called. */
const pathWithin = (url: URL, context: RuntimeContext): string => {
  const { integration, installation, spaceInstallation, siteInstallation } = context.environment
  const levels = [siteInstallation, spaceInstallation, installation, integration]
  const here = `${url.origin}${url.pathname}`
  const endpoint = levels
    .map((level) => level?.urls.publicEndpoint)
    .find((own) => own && here.startsWith(own))
  return endpoint === undefined ? url.pathname : here.slice(endpoint.length)
}

const installationOf = async (state: FlowState, context: RuntimeContext): Promise<Installation> => {
  const { installation, integration } = context.environment
  if (installation?.id === state.installationId) return installation
  const { integrations } = context.integration.api
  const { data } = await integrations.getIntegrationInstallationById(integration.name, state.installationId)
  return data as unknown as Installation
}

const closingPage = `<!doctype html>
<meta charset="utf-8">
<title>Connected</title>
<p>The connection is set up. You can close this window.</p>
<script>window.close()</script>
`
