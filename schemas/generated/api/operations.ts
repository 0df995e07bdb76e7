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
