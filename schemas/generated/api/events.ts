// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { PublishedPageFeedbackEvent, PublishedSiteViewEvent, PublishedSpaceContentUpdatedEvent } from './published-events.ts'

/**
 * An event of one of the types that an organization may publish.
 */
export type EventToPublish =
  PublishedSpaceContentUpdatedEvent | PublishedSiteViewEvent | PublishedPageFeedbackEvent

/**
 * What became of an event.
 */
export interface PublishReceipt {
  eventId: string
  /**
   * An event with this `eventId` was published before.
   */
  duplicate: boolean
  /**
   * How many scripts get it.
   */
  installations: number
  /**
   * The ids of installations that get it after a resume.
   */
  waiting?: string[]
  /**
   * At most 20 installations that do not get it. Read at most once a second.
   */
  skipped?: SkippedInstallation[]
}

/**
 * An installation that does not get an event, and why.
 */
export interface SkippedInstallation {
  installation: string
  integration: string
  reason: 'missing_scope' | 'settings_missing' | 'not_installed_there' | 'not_deployed'
  message: string
}

export interface PublishEventQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface EventsOperations {
  publishEvent: {
    roles: 'editor' | 'admin' | 'operator'
    params: {}
    query: PublishEventQuery
    body: EventToPublish
    answer: PublishReceipt
  }
}
