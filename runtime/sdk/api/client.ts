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
  return {
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
  }
}

/** Methods of the other platform that Annex does not have reject with a sentence. */
const withRefusals = <Group extends object>(name: string, group: Group): Group =>
  new Proxy(group, {
    get(target, key) {
      // An object with `then` would be a promise for `await`.
      if (typeof key === 'symbol' || key in target || key === 'then') return Reflect.get(target, key)
      return async () => {
        throw new Error(`Annex has no method api.${name}.${key}. docs/sdk.md lists those that it has`)
      }
    },
  })
