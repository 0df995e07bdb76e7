/** An event as a handler gets it. `installationId` is missing only where an integration runs as a whole. */
type EventBase<Type extends string> = { type: Type; eventId: string; installationId: string }

export type Visitor = {
  anonymousId: string
  userAgent: string
  ip: string
  cookies: Record<string, string>
}

type Previous = { status?: string; configuration?: Record<string, unknown>; [field: string]: unknown }

/** The events that Annex itself makes. A script may handle types of its platform besides. */
export type KnownEvents = {
  /** Also the setup of a site or space whose own type has no handler: then it has its id. */
  installation_setup: EventBase<'installation_setup'> & {
    status: string
    previous?: Previous
    siteId?: string
    spaceId?: string
  }
  space_installation_setup: EventBase<'space_installation_setup'> & {
    spaceId: string
    status: string
    previous?: Previous
  }
  site_installation_setup: EventBase<'site_installation_setup'> & {
    siteId: string
    status: string
    previous?: Previous
  }
  installation_deleted: EventBase<'installation_deleted'> & { previous: Previous }
  space_installation_deleted: EventBase<'space_installation_deleted'> & {
    spaceId: string
    previous: Previous
  }
  site_installation_deleted: EventBase<'site_installation_deleted'> & { siteId: string; previous: Previous }
  space_content_updated: EventBase<'space_content_updated'> & {
    spaceId: string
    revisionId: string
    updatedBy?: string
  }
  space_visibility_updated: EventBase<'space_visibility_updated'> & { spaceId: string }
  space_gitsync_started: EventBase<'space_gitsync_started'> & GitSync
  space_gitsync_completed: EventBase<'space_gitsync_completed'> & GitSync
  site_view: EventBase<'site_view'> & { siteId: string; visitor: Visitor; url: string; referrer: string }
  page_feedback: EventBase<'page_feedback'> & {
    siteId: string
    spaceId: string
    pageId: string
    feedback: { rating: string; comment: string }
    visitor: Visitor
    url: string
    referrer: string
  }
}

type GitSync = { spaceId: string; revisionId: string; commitId: string; state: string }

/** An event of any type. */
export type AnyEvent = { type: string; eventId: string; installationId: string; [field: string]: unknown }

export type EventOf<Type extends string> = Type extends keyof KnownEvents ? KnownEvents[Type] : AnyEvent
