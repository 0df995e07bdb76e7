import { type ApiRequest, createApiRequest } from './api-request.ts'
import { createIntegrations } from './integrations.ts'
import { createSites } from './sites.ts'
import { createSpaces } from './spaces.ts'

/** The platform API. What has no method of its own is reached through `request`. */
export type ApiClient = {
  request: ApiRequest
  spaces: ReturnType<typeof createSpaces>
  integrations: ReturnType<typeof createIntegrations>
  orgs: ReturnType<typeof createSites>
}

/** A client that speaks with one token. Its groups are made when they are first used: most handlers use none. */
export const createApiClient = (options: { endpoint: string; token: string | undefined }): ApiClient => {
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
      return createSites(request)
    },
  }
}
