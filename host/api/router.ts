import Router from '@koa/router'
import { loadApi } from '../../schemas/api.ts'
import { addAccountRoutes } from './accounts.ts'
import { addActivityRoutes } from './activity.ts'
import { addAuditRoutes } from './audit.ts'
import { addBlockRoutes } from './blocks.ts'
import { addComponentOptionRoutes } from './component-options.ts'
import { addConnectionRoutes } from './connections.ts'
import { addContentRoutes } from './content.ts'
import { addDeliveryRoutes } from './deliveries.ts'
import { addFeedRoutes } from './delivery-feed.ts'
import { addDispatchRoutes } from './dispatches.ts'
import { addEventRoutes } from './events.ts'
import { addHealthRoutes } from './health.ts'
import { addInstallLinkRoutes } from './install-links.ts'
import { addInstallationRoutes, addPlaceRoutes } from './installations.ts'
import { addIntegrationLevelRoutes } from './integration-levels.ts'
import { addIntegrationRoutes } from './integrations.ts'
import { addInvitationRoutes } from './invitations.ts'
import { addJobRoutes } from './jobs.ts'
import { addLevelRoutes } from './levels.ts'
import { addLogRoutes } from './logs.ts'
import { addMarkdownRoutes } from './markdown.ts'
import { addMeRoutes } from './me.ts'
import { addMemberRoutes } from './members.ts'
import { addMetricsRoutes } from './metrics.ts'
import { createOperations, type OnOperation, type OperationParts } from './operations.ts'
import { addOrganizationRoutes } from './organizations.ts'
import { addPictureRoutes } from './pictures.ts'
import { addProblemRoutes } from './problems.ts'
import { addReceiptRoutes } from './receipts.ts'
import { addReceiverRoutes } from './receivers.ts'
import { addSendAgainRoutes } from './send-again.ts'
import { addSettingOptionRoutes } from './setting-options.ts'
import { addSiteRoutes } from './sites.ts'
import { addSpaceRoutes } from './spaces.ts'
import { addStatusChangeRoutes } from './status-changes.ts'
import { addTokenRoutes } from './tokens.ts'
import { addUsageRoutes } from './usage.ts'
import { addVersionRoutes } from './versions.ts'
import { addViewRoutes } from './views.ts'
import { addVisitorRoutes } from './visitors.ts'

/** Each adds the routes of one resource, and names the parts that it needs. `schemas/api` describes the routes. */
const resources = [
  addHealthRoutes,
  addMetricsRoutes,
  addMeRoutes,
  addOrganizationRoutes,
  addAccountRoutes,
  addMemberRoutes,
  addInvitationRoutes,
  addTokenRoutes,
  addSpaceRoutes,
  addContentRoutes,
  addBlockRoutes,
  addSiteRoutes,
  addViewRoutes,
  addVisitorRoutes,
  addIntegrationRoutes,
  addIntegrationLevelRoutes,
  addInstallLinkRoutes,
  addInstallationRoutes,
  addPlaceRoutes,
  addLevelRoutes,
  addStatusChangeRoutes,
  addConnectionRoutes,
  addSettingOptionRoutes,
  addDispatchRoutes,
  addComponentOptionRoutes,
  addPictureRoutes,
  addMarkdownRoutes,
  addEventRoutes,
  addFeedRoutes,
  addDeliveryRoutes,
  addSendAgainRoutes,
  addReceiverRoutes,
  addJobRoutes,
  addLogRoutes,
  addReceiptRoutes,
  addUsageRoutes,
  addActivityRoutes,
  addVersionRoutes,
  addAuditRoutes,
  addProblemRoutes,
]

/** A union of functions takes the intersection of their arguments: what the resources need, all together. */
type ResourceParts = [(typeof resources)[number]] extends [(on: OnOperation, parts: infer Parts) => void]
  ? Parts
  : never

export type ApiParts = OperationParts & Omit<ResourceParts, 'api'>

export function createRouter(parts: ApiParts): Router {
  const api = loadApi()
  const { on, addTo } = createOperations(api, parts)
  for (const add of resources) add(on, { ...parts, api })
  // A proxy in front guards paths by their exact text: no other spelling may reach the same operation.
  const router = new Router({ sensitive: true, strict: true })
  addTo(router)
  return router
}
