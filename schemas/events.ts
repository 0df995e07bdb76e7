import installationSetup from './events/installation-setup.schema.json' with { type: 'json' }
import pageFeedback from './events/page-feedback.schema.json' with { type: 'json' }
import siteInstallationSetup from './events/site-installation-setup.schema.json' with { type: 'json' }
import siteView from './events/site-view.schema.json' with { type: 'json' }
import spaceContentUpdated from './events/space-content-updated.schema.json' with { type: 'json' }
import spaceInstallationSetup from './events/space-installation-setup.schema.json' with { type: 'json' }
import type { InstallationSetupEvent } from './generated/events/installation-setup.ts'
import type { PageFeedbackEvent } from './generated/events/page-feedback.ts'
import type { SiteInstallationSetupEvent } from './generated/events/site-installation-setup.ts'
import type { SiteViewEvent } from './generated/events/site-view.ts'
import type { SpaceContentUpdatedEvent } from './generated/events/space-content-updated.ts'
import type { SpaceInstallationSetupEvent } from './generated/events/space-installation-setup.ts'

/** An event as a handler or a webhook receiver gets it. `type` tells which. */
export type ReceivedEvent =
  | SpaceContentUpdatedEvent
  | SiteViewEvent
  | PageFeedbackEvent
  | InstallationSetupEvent
  | SpaceInstallationSetupEvent
  | SiteInstallationSetupEvent

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
  site_view: siteView,
  page_feedback: pageFeedback,
  installation_setup: installationSetup,
  space_installation_setup: spaceInstallationSetup,
  site_installation_setup: siteInstallationSetup,
}

/** What an organization may publish. Setup events come from the host alone. */
export const publishableEventTypes = ['space_content_updated', 'site_view', 'page_feedback'] as const

export type PublishableEventType = (typeof publishableEventTypes)[number]

/**
 * The schema of an event as it is published. The host adds `installationId` for each installation that
 * matches, so a sender must not name one; `eventId` is made where the sender gives none.
 */
export function toPublishSchema(received: EventSchema): EventSchema {
  const { installationId: _, ...properties } = received.properties
  const required = received.required.filter((name) => name !== 'installationId' && name !== 'eventId')
  return { ...received, $id: `${received.$id}?published`, required, properties }
}
