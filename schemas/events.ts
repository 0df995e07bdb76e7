import installationDeleted from './events/installation-deleted.schema.json' with { type: 'json' }
import installationSetup from './events/installation-setup.schema.json' with { type: 'json' }
import pageFeedback from './events/page-feedback.schema.json' with { type: 'json' }
import siteInstallationDeleted from './events/site-installation-deleted.schema.json' with { type: 'json' }
import siteInstallationSetup from './events/site-installation-setup.schema.json' with { type: 'json' }
import siteView from './events/site-view.schema.json' with { type: 'json' }
import spaceContentUpdated from './events/space-content-updated.schema.json' with { type: 'json' }
import spaceInstallationDeleted from './events/space-installation-deleted.schema.json' with { type: 'json' }
import spaceInstallationSetup from './events/space-installation-setup.schema.json' with { type: 'json' }
import spaceVisibilityUpdated from './events/space-visibility-updated.schema.json' with { type: 'json' }
import type { InstallationDeletedEvent } from './generated/events/installation-deleted.ts'
import type { InstallationSetupEvent } from './generated/events/installation-setup.ts'
import type { PageFeedbackEvent } from './generated/events/page-feedback.ts'
import type { SiteInstallationDeletedEvent } from './generated/events/site-installation-deleted.ts'
import type { SiteInstallationSetupEvent } from './generated/events/site-installation-setup.ts'
import type { SiteViewEvent } from './generated/events/site-view.ts'
import type { SpaceContentUpdatedEvent } from './generated/events/space-content-updated.ts'
import type { SpaceInstallationDeletedEvent } from './generated/events/space-installation-deleted.ts'
import type { SpaceInstallationSetupEvent } from './generated/events/space-installation-setup.ts'
import type { SpaceVisibilityUpdatedEvent } from './generated/events/space-visibility-updated.ts'
import type { Manifest } from './generated/manifest.ts'

/** An event as a handler or a webhook receiver gets it. `type` tells which. */
export type ReceivedEvent =
  | SpaceContentUpdatedEvent
  | SpaceVisibilityUpdatedEvent
  | SiteViewEvent
  | PageFeedbackEvent
  | InstallationSetupEvent
  | SpaceInstallationSetupEvent
  | SiteInstallationSetupEvent
  | InstallationDeletedEvent
  | SpaceInstallationDeletedEvent
  | SiteInstallationDeletedEvent

export type EventType = ReceivedEvent['type']

/** A JSON Schema (2020-12) of an event. */
export type EventSchema = {
  $id: string
  required: string[]
  properties: Record<string, object>
  [keyword: string]: unknown
}

/** The schema of each event as it is received: `eventId`, `type` and `installationId` are there. */
export const eventSchemas: Record<EventType, EventSchema> = {
  space_content_updated: spaceContentUpdated,
  space_visibility_updated: spaceVisibilityUpdated,
  site_view: siteView,
  page_feedback: pageFeedback,
  installation_setup: installationSetup,
  space_installation_setup: spaceInstallationSetup,
  site_installation_setup: siteInstallationSetup,
  installation_deleted: installationDeleted,
  space_installation_deleted: spaceInstallationDeleted,
  site_installation_deleted: siteInstallationDeleted,
}

/** What an organization may publish. Other events come from the host alone. */
export const publishableEventTypes = ['space_content_updated', 'site_view', 'page_feedback'] as const

export type PublishableEventType = (typeof publishableEventTypes)[number]

/** What happens in a site or space. Each installation there that has the scope gets it. */
export type PlaceEventType = PublishableEventType | 'space_visibility_updated'

/**
 * The schema of an event as it is published. The host adds `installationId` for each installation that
 * matches, so a sender must not name one; `eventId` is made where the sender gives none.
 */
export function toPublishSchema(received: EventSchema): EventSchema {
  const { installationId: _, ...properties } = received.properties
  const required = received.required.filter((name) => name !== 'installationId' && name !== 'eventId')
  return { ...received, $id: `${received.$id}?published`, required, properties }
}

/** The kind of place that an event belongs to (spec 6.2). A script gets the event with any of these scopes. */
export const eventRules: Record<PlaceEventType, { kind: 'site' | 'space'; scopes: Manifest['scopes'] }> = {
  space_content_updated: { kind: 'space', scopes: ['space:content:read'] },
  space_visibility_updated: { kind: 'space', scopes: ['space:metadata:read'] },
  site_view: { kind: 'site', scopes: ['site:views:read'] },
  page_feedback: { kind: 'site', scopes: ['site:views:read', 'page:feedback:read'] },
}

/** The scopes, of these, by which a script gets events of a type. An event that needs no scope has none. */
export const scopesFor = (type: string, scopes: readonly string[]): string[] =>
  Object.hasOwn(eventRules, type)
    ? eventRules[type as PlaceEventType].scopes.filter((scope) => scopes.includes(scope))
    : []

/** True when an integration with these scopes gets events of the type. */
export const hasScopeFor = (type: PlaceEventType, scopes: readonly string[] = []): boolean =>
  eventRules[type].scopes.some((scope) => scopes.includes(scope))
