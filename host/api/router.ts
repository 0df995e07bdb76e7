import Router from '@koa/router'
import { loadApi } from '../../schemas/api.ts'
import { type AuditParts, addAuditRoutes } from './audit.ts'
import { addConnectionRoutes, type ConnectionParts } from './connections.ts'
import { addContentRoutes, type ContentRouteParts } from './content.ts'
import { addDeliveryRoutes, type DeliveryParts } from './deliveries.ts'
import { addFeedRoutes, type FeedParts } from './delivery-feed.ts'
import { addDispatchRoutes, type DispatchParts } from './dispatches.ts'
import { addEventRoutes, type EventParts } from './events.ts'
import { addHealthRoutes, type HealthParts } from './health.ts'
import { addHomeRoute, type HomeParts } from './home.ts'
import { addInstallLinkRoutes, type InstallLinkParts } from './install-links.ts'
import { addInstallationRoutes, addTargetRoutes, type InstallationParts } from './installations.ts'
import { addIntegrationLevelRoutes, type IntegrationLevelParts } from './integration-levels.ts'
import { addIntegrationRoutes, type IntegrationParts } from './integrations.ts'
import { addJobRoutes, type JobParts } from './jobs.ts'
import { addLevelRoutes, type LevelParts } from './levels.ts'
import { addLogRoutes, type LogParts } from './logs.ts'
import { addMeRoute, type MeParts } from './me.ts'
import { addMemberRoutes, type MemberParts } from './members.ts'
import { addMetricsRoutes, type MetricsParts } from './metrics.ts'
import { createOperations, type OperationParts } from './operations.ts'
import { addOrganizationRoutes, type OrganizationParts } from './organizations.ts'
import { addProblemRoutes, type ProblemParts } from './problems.ts'
import { addReceiptRoutes, type ReceiptParts } from './receipts.ts'
import { addReceiverRoutes, type ReceiverParts } from './receivers.ts'
import { addSendAgainRoutes, type SendAgainParts } from './send-again.ts'
import { addSettingOptionRoutes, type SettingOptionParts } from './setting-options.ts'
import { addSiteRoutes, type SiteParts } from './sites.ts'
import { addSpaceRoutes, type SpaceParts } from './spaces.ts'
import { addTokenRoutes, type TokenParts } from './tokens.ts'
import { addVersionRoutes, type VersionParts } from './versions.ts'
import { addViewRoutes, type ViewParts } from './views.ts'
import { addVisitorRoutes, type VisitorParts } from './visitors.ts'

/** The parts that the resources need, all together. */
export type ApiParts = OperationParts &
  HomeParts &
  HealthParts &
  MeParts &
  MetricsParts &
  OrganizationParts &
  MemberParts &
  TokenParts &
  SpaceParts &
  ContentRouteParts &
  SiteParts &
  ViewParts &
  VisitorParts &
  IntegrationParts &
  IntegrationLevelParts &
  InstallLinkParts &
  InstallationParts &
  LevelParts &
  ConnectionParts &
  SettingOptionParts &
  DispatchParts &
  EventParts &
  FeedParts &
  DeliveryParts &
  SendAgainParts &
  ReceiverParts &
  JobParts &
  LogParts &
  ReceiptParts &
  VersionParts &
  AuditParts &
  ProblemParts

/** The routes of the API. `schemas/api` describes each. */
export function createRouter(parts: ApiParts): Router {
  const api = loadApi()
  const { on, addTo } = createOperations(api, parts)
  addHomeRoute(on, parts)
  addHealthRoutes(on, parts)
  addMetricsRoutes(on, parts)
  addMeRoute(on, parts, api.operations)
  addOrganizationRoutes(on, parts)
  addMemberRoutes(on, parts)
  addTokenRoutes(on, parts)
  addSpaceRoutes(on, parts)
  addContentRoutes(on, parts)
  addSiteRoutes(on, parts)
  addViewRoutes(on, parts)
  addVisitorRoutes(on, parts)
  addIntegrationRoutes(on, parts)
  addIntegrationLevelRoutes(on, parts)
  addInstallLinkRoutes(on, parts)
  addInstallationRoutes(on, parts)
  addTargetRoutes(on, parts)
  addLevelRoutes(on, parts)
  addConnectionRoutes(on, parts)
  addSettingOptionRoutes(on, parts)
  addDispatchRoutes(on, parts)
  addEventRoutes(on, parts)
  addFeedRoutes(on, parts)
  addDeliveryRoutes(on, parts)
  addSendAgainRoutes(on, parts)
  addReceiverRoutes(on, parts)
  addJobRoutes(on, parts)
  addLogRoutes(on, parts)
  addReceiptRoutes(on, parts)
  addVersionRoutes(on, parts)
  addAuditRoutes(on, parts)
  addProblemRoutes(on, parts)
  on('GET /openapi.json', () => api.document)
  // A proxy in front guards paths by their exact text: no other spelling may reach the same operation.
  const router = new Router({ sensitive: true, strict: true })
  addTo(router)
  return router
}
