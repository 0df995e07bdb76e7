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
      return createSpaces(request)
    },
    get integrations() {
      return createIntegrations(request)
    },
    get orgs() {
      return { ...createSites(request), ...createQuestions(request, options) }
    },
    get urls() {
      return createUrls(request)
    },
    async createInstallationClient(integration, installation) {
      const { data } = await this.integrations.createIntegrationInstallationToken(integration, installation)
      return createApiClient({ ...options, token: data.token })
    },
  }
}
