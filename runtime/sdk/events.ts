import type { InstallationDeletedEvent } from '../../schemas/generated/events/installation-deleted.ts'
import type { InstallationSetupEvent } from '../../schemas/generated/events/installation-setup.ts'
import type { PageFeedbackEvent } from '../../schemas/generated/events/page-feedback.ts'
import type { SiteInstallationDeletedEvent } from '../../schemas/generated/events/site-installation-deleted.ts'
import type { SiteInstallationSetupEvent } from '../../schemas/generated/events/site-installation-setup.ts'
import type { SiteViewEvent, Visitor } from '../../schemas/generated/events/site-view.ts'
import type { SpaceContentUpdatedEvent } from '../../schemas/generated/events/space-content-updated.ts'
import type { SpaceInstallationDeletedEvent } from '../../schemas/generated/events/space-installation-deleted.ts'
import type { SpaceInstallationSetupEvent } from '../../schemas/generated/events/space-installation-setup.ts'
import type { SpaceVisibilityUpdatedEvent } from '../../schemas/generated/events/space-visibility-updated.ts'

export type { Visitor }

/** The events that Annex makes: their types come from `schemas/events`. */
type MadeHere =
  | InstallationSetupEvent
  | SpaceInstallationSetupEvent
  | SiteInstallationSetupEvent
  | InstallationDeletedEvent
  | SpaceInstallationDeletedEvent
  | SiteInstallationDeletedEvent
  | SpaceContentUpdatedEvent
  | SpaceVisibilityUpdatedEvent
  | SiteViewEvent
  | PageFeedbackEvent

/** An interface is no object with any fields, which an event of any type is. */
type Plain<Event> = { [Field in keyof Event]: Event[Field] }

type EventBase<Type extends string> = { type: Type; eventId: string; installationId: string }
type GitSync = { spaceId: string; revisionId: string; commitId: string; state: string }

/** Events of the reference platform that Annex does not make. A script may handle them too. */
type MadeElsewhere =
  | (EventBase<'space_gitsync_started'> & GitSync)
  | (EventBase<'space_gitsync_completed'> & GitSync)

/** The events with a type of their own. A script may handle other types of its platform too. */
export type KnownEvents = {
  [Event in MadeHere | MadeElsewhere as Event['type']]: Plain<Event>
}

/** The name of an event with a type of its own. */
export type EventType = keyof KnownEvents

/** An event of any type. */
export type AnyEvent = { type: string; eventId: string; installationId: string; [field: string]: unknown }

/** The event of a type: one of `KnownEvents`, or any event. */
export type EventOf<Type extends string> = Type extends keyof KnownEvents ? KnownEvents[Type] : AnyEvent

/** What the other platform counts as events, too. */
type DispatchType =
  | 'fetch'
  | 'fetch_published_script'
  | 'fetch_visitor_authentication'
  | 'task'
  | 'ui_render'
  | 'content_compute_document'
  | 'content_compute_revision'

/** As `EventOf`, of a name that the other platform knows: another one is an error of the compiler. */
export type EventByType<Type extends EventType | DispatchType> = EventOf<Type>
