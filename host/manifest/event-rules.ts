import type { PublishableEventType } from '../../schemas/events.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'

/** Where an event happens (spec 6.2), and the scopes of which a script needs one to get it. */
export const eventRules: Record<
  PublishableEventType,
  { kind: 'site' | 'space'; scopes: Manifest['scopes'] }
> = {
  space_content_updated: { kind: 'space', scopes: ['space:content:read'] },
  site_view: { kind: 'site', scopes: ['site:views:read'] },
  page_feedback: { kind: 'site', scopes: ['site:views:read', 'page:feedback:read'] },
}

/** Whether an integration with these scopes learns of such an event. */
export const hasScopeFor = (type: PublishableEventType, scopes: readonly string[] = []): boolean =>
  eventRules[type].scopes.some((scope) => scopes.includes(scope))
