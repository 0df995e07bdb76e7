import { type ApiRequest, path, type Query } from './api-request.ts'
import type {
  InstallationRecord,
  InstallationUpdate,
  IntegrationRecord,
  List,
  PlaceInstallationRecord,
  Token,
} from './records.ts'

/** The integration's own record, and its installations. An update replaces `configuration` as a whole. */
export const createIntegrations = (request: ApiRequest) => ({
  getIntegrationByName: (name: string) => request<IntegrationRecord>({ path: path`/integrations/${name}` }),
  listIntegrationInstallations: (name: string, query: Query = {}) =>
    request<List<InstallationRecord>>({ path: path`/integrations/${name}/installations`, query }),
  listIntegrationSpaceInstallations: (name: string, query: Query = {}) =>
    request<List<PlaceInstallationRecord>>({ path: path`/integrations/${name}/spaces`, query }),
  listIntegrationSiteInstallations: (name: string, query: Query = {}) =>
    request<List<PlaceInstallationRecord>>({ path: path`/integrations/${name}/sites`, query }),
  queueIntegrationTask: (name: string, body: { task: object; schedule?: number }) =>
    request({ method: 'POST', path: path`/integrations/${name}/tasks`, body }),

  getIntegrationInstallationById: (name: string, installation: string) =>
    request<InstallationRecord>({ path: path`/integrations/${name}/installations/${installation}` }),
  updateIntegrationInstallation: (name: string, installation: string, body: InstallationUpdate) =>
    request<InstallationRecord>({
      method: 'PATCH',
      path: path`/integrations/${name}/installations/${installation}`,
      body,
    }),
  createIntegrationInstallationToken: (name: string, installation: string) =>
    request<Token>({
      method: 'POST',
      path: path`/integrations/${name}/installations/${installation}/tokens`,
    }),

  getIntegrationSpaceInstallation: (name: string, installation: string, space: string) =>
    request<PlaceInstallationRecord>({
      path: path`/integrations/${name}/installations/${installation}/spaces/${space}`,
    }),
  updateIntegrationSpaceInstallation: (
    name: string,
    installation: string,
    space: string,
    body: InstallationUpdate,
  ) =>
    request<PlaceInstallationRecord>({
      method: 'PATCH',
      path: path`/integrations/${name}/installations/${installation}/spaces/${space}`,
      body,
    }),

  getIntegrationSiteInstallation: (name: string, installation: string, site: string) =>
    request<PlaceInstallationRecord>({
      path: path`/integrations/${name}/installations/${installation}/sites/${site}`,
    }),
  updateIntegrationSiteInstallation: (
    name: string,
    installation: string,
    site: string,
    body: InstallationUpdate,
  ) =>
    request<PlaceInstallationRecord>({
      method: 'PATCH',
      path: path`/integrations/${name}/installations/${installation}/sites/${site}`,
      body,
    }),
})
