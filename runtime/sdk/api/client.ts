import { type ApiRequest, createApiRequest } from './api-request.ts'
import { createIntegrations } from './integrations.ts'
import { createSites } from './sites.ts'
import { createSpaces } from './spaces.ts'

/**
 * A client of the platform API. Each method resolves to `{ data, status, headers }`, and rejects with an `ApiError`
 * where the status is not 2xx. `request` reaches every other route.
 */
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
