// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { AuditOperations } from './audit.ts'
import type { ConnectionsOperations } from './connections.ts'
import type { ContentOperations } from './content.ts'
import type { DeliveriesOperations } from './deliveries.ts'
import type { DispatchesOperations } from './dispatches.ts'
import type { EventsOperations } from './events.ts'
import type { InstallLinksOperations } from './install-links.ts'
import type { InstallationsOperations } from './installations.ts'
import type { IntegrationLevelsOperations } from './integration-levels.ts'
import type { IntegrationsOperations } from './integrations.ts'
import type { JobsOperations } from './jobs.ts'
import type { LogsOperations } from './logs.ts'
import type { MeOperations } from './me.ts'
import type { MembersOperations } from './members.ts'
import type { OrganizationsOperations } from './organizations.ts'
import type { ProblemsOperations } from './problems.ts'
import type { ReceiptsOperations } from './receipts.ts'
import type { ReceiversOperations } from './receivers.ts'
import type { SitesOperations } from './sites.ts'
import type { SpacesOperations } from './spaces.ts'
import type { SystemOperations } from './system.ts'
import type { TokensOperations } from './tokens.ts'
import type { VersionsOperations } from './versions.ts'
import type { ViewsOperations } from './views.ts'
import type { VisitorsOperations } from './visitors.ts'

/** Each operation of the API by its id. */
export type Operations = AuditOperations &
  ConnectionsOperations &
  ContentOperations &
  DeliveriesOperations &
  DispatchesOperations &
  EventsOperations &
  InstallLinksOperations &
  InstallationsOperations &
  IntegrationLevelsOperations &
  IntegrationsOperations &
  JobsOperations &
  LogsOperations &
  MeOperations &
  MembersOperations &
  OrganizationsOperations &
  ProblemsOperations &
  ReceiptsOperations &
  ReceiversOperations &
  SitesOperations &
  SpacesOperations &
  SystemOperations &
  TokensOperations &
  VersionsOperations &
  ViewsOperations &
  VisitorsOperations

export type OperationId = keyof Operations

/** The ids of the three forms of an operation of levels, by the method and path of the account. */
export const levelOperations = {
  'POST /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect': {
    account: 'connectInstallationSetting',
    site: 'connectSiteInstallationSetting',
    space: 'connectSpaceInstallationSetting',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/connect': {
    account: 'connectInstallation',
    site: 'connectSiteInstallation',
    space: 'connectSpaceInstallation',
  },
  'GET /v1/integrations/{integration}/installations/{installation}/configuration/{property}/options': {
    account: 'listInstallationSettingOptions',
    site: 'listSiteInstallationSettingOptions',
    space: 'listSpaceInstallationSettingOptions',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/render': {
    account: 'renderInstallationComponent',
    site: 'renderSiteInstallationComponent',
    space: 'renderSpaceInstallationComponent',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/content-sources/{source}/revision': {
    account: 'computeInstallationRevision',
    site: 'computeSiteInstallationRevision',
    space: 'computeSpaceInstallationRevision',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/content-sources/{source}/document': {
    account: 'computeInstallationDocument',
    site: 'computeSiteInstallationDocument',
    space: 'computeSpaceInstallationDocument',
  },
  'GET /v1/integrations/{integration}/installations/{installation}': {
    account: 'getIntegrationInstallationById',
    site: 'getIntegrationSiteInstallation',
    space: 'getIntegrationSpaceInstallation',
  },
  'PATCH /v1/integrations/{integration}/installations/{installation}': {
    account: 'updateIntegrationInstallation',
    site: 'updateIntegrationSiteInstallation',
    space: 'updateIntegrationSpaceInstallation',
  },
  'DELETE /v1/integrations/{integration}/installations/{installation}': {
    account: 'uninstallIntegration',
    site: 'uninstallIntegrationFromSite',
    space: 'uninstallIntegrationFromSpace',
  },
  'PUT /v1/integrations/{integration}/installations/{installation}/configuration/{property}': {
    account: 'putInstallationSetting',
    site: 'putSiteInstallationSetting',
    space: 'putSpaceInstallationSetting',
  },
  'DELETE /v1/integrations/{integration}/installations/{installation}/configuration/{property}': {
    account: 'deleteInstallationSetting',
    site: 'deleteSiteInstallationSetting',
    space: 'deleteSpaceInstallationSetting',
  },
  'POST /v1/integrations/{integration}/installations/{installation}/signing-secret': {
    account: 'rotateInstallationSecret',
    site: 'rotateSiteInstallationSecret',
    space: 'rotateSpaceInstallationSecret',
  },
  'DELETE /v1/integrations/{integration}/installations/{installation}/signing-secret/previous': {
    account: 'endInstallationSecretOverlap',
    site: 'endSiteInstallationSecretOverlap',
    space: 'endSpaceInstallationSecretOverlap',
  },
} as const satisfies Record<string, { account: OperationId; site: OperationId; space: OperationId }>
