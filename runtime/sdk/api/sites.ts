import { type ApiRequest, path } from './api-request.ts'
import type { Site } from './records.ts'

/** Sites, which belong to an organization. */
export const createSites = (request: ApiRequest) => ({
  getSiteById: (organization: string, site: string) =>
    request<Site>({ path: path`/orgs/${organization}/sites/${site}` }),
  getSiteAdaptiveSchema: (organization: string, site: string) =>
    request({ path: path`/orgs/${organization}/sites/${site}/adaptive-schema` }),
  updateSiteAdaptiveSchema: (organization: string, site: string, body: object) =>
    request({ method: 'PUT', path: path`/orgs/${organization}/sites/${site}/adaptive-schema`, body }),
})
