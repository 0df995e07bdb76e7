import { type ApiAccess, type ApiRequest, createApiRequest } from './api-request.ts'
import { createIntegrations } from './integrations.ts'
import { createQuestions } from './questions.ts'
import { createSites } from './sites.ts'
import { createSpaces } from './spaces.ts'
import { createUrls } from './urls.ts'

/**
 * A client of the platform API. Each method resolves to `{ data, status, headers }`, and rejects with an `ApiError`
 * where the status is not 2xx. `request` reaches every other route.
 */
export type ApiClient = {
  /** The address of the API, without `/v1`. */
  readonly endpoint: string
  /** The token that its requests carry. */
  readonly authToken: string | undefined
  /** The name of the integration with its version: `integration-NAME/VERSION`. Pass it to a client of your own. */
  readonly userAgent: string
  request: ApiRequest
  spaces: ReturnType<typeof createSpaces>
  integrations: ReturnType<typeof createIntegrations>
  orgs: ReturnType<typeof createSites> & ReturnType<typeof createQuestions>
  urls: ReturnType<typeof createUrls>
  /** A client with a token of one installation, which this client's token has to be allowed to make. */
  createInstallationClient(integration: string, installation: string): Promise<ApiClient>
}

/** A client that speaks with one token. Its groups are made when they are first used: most handlers use none. */
export const createApiClient = (options: ApiAccess): ApiClient => {
  const request = createApiRequest(options)
  const { endpoint, token: authToken, userAgent } = options
  return withGroups({
    endpoint,
    authToken,
    userAgent,
    request,
    get spaces() {
      return withRefusals('spaces', createSpaces(request))
    },
    get integrations() {
      return withRefusals('integrations', createIntegrations(request))
    },
    get orgs() {
      return withRefusals('orgs', { ...createSites(request), ...createQuestions(request, options) })
    },
    get urls() {
      return withRefusals('urls', createUrls(request))
    },
    async createInstallationClient(integration, installation) {
      const { data } = await this.integrations.createIntegrationInstallationToken(integration, installation)
      return createApiClient({ ...options, token: data.token })
    },
  })
}

/** Methods of the other platform that Annex does not have reject with a sentence. */
const withRefusals = <Group extends object>(name: string, group: Group): Group =>
  withOthers(group, (key) => async () => {
    throw new Error(`Annex has no method api.${name}.${key}. docs/sdk.md lists those that it has`)
  })

/** Groups of the other platform that Annex does not have are empty. */
const withGroups = (client: ApiClient): ApiClient => withOthers(client, (key) => withRefusals(key, {}))

/** Makes the properties that are read and not there, except those by which promises and JSON know their own. */
const withOthers = <Target extends object>(given: Target, make: (key: string) => unknown): Target =>
  new Proxy(given, {
    get(target, key, receiver) {
      const isOther = typeof key === 'string' && !(key in target) && key !== 'then' && key !== 'toJSON'
      return isOther ? make(key) : Reflect.get(target, key, receiver)
    },
  })
