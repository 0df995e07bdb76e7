import { type ApiRequest, path, type Query } from './api-request.ts'
import type { List, Site } from './records.ts'

/** Sites, which belong to an organization. */
export const createSites = (request: ApiRequest) => ({
  getSiteById: (organization: string, site: string) =>
    request<Site>({ path: path`/orgs/${organization}/sites/${site}` }),
  getSiteAdaptiveSchema: (organization: string, site: string) =>
    request({ path: path`/orgs/${organization}/sites/${site}/adaptive-schema` }),
  updateSiteAdaptiveSchema: (organization: string, site: string, body: object) =>
    request({ method: 'PUT', path: path`/orgs/${organization}/sites/${site}/adaptive-schema`, body }),
  verifySiteVisitorToken: (organization: string, site: string, body: { token: string }) =>
    request({ method: 'POST', path: path`/orgs/${organization}/sites/${site}/publishing/auth/verify`, body }),
  getSitePublishingAuthById: (organization: string, site: string) =>
    request({ path: path`/orgs/${organization}/sites/${site}/publishing/auth` }),
  listSiteViews: (organization: string, site: string, query?: Query) =>
    request<List<object>>({
      path: path`/orgs/${organization}/sites/${site}/views`,
      ...(query && { query }),
    }),
  countSiteViews: (organization: string, site: string, query?: Query) =>
    request<List<object>>({
      path: path`/orgs/${organization}/sites/${site}/views/counts`,
      ...(query && { query }),
    }),
})
