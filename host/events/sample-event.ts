import type { PublishableEventType } from '../../schemas/events.ts'

/** Where a sample event happens: what its type needs is filled in by the caller. */
export type SamplePlace = { siteId?: string; spaceId?: string; pageId?: string; revisionId?: string }

/** A visitor that is nobody: the address is of a range kept for documentation (RFC 5737). */
const visitor = {
  anonymousId: 'visitor-sample',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  ip: '203.0.113.7',
  cookies: {},
}

const view = { visitor, url: 'https://docs.example.com/welcome', referrer: 'https://www.example.com/' }

/** Which places the payload of a type names (spec 2.5). */
export const placesOf: Record<PublishableEventType, readonly (keyof SamplePlace)[]> = {
  space_content_updated: ['spaceId', 'revisionId'],
  site_view: ['siteId'],
  page_feedback: ['siteId', 'spaceId', 'pageId'],
}

const samples: Record<PublishableEventType, object> = {
  space_content_updated: {},
  site_view: view,
  page_feedback: { feedback: { rating: 'good', comment: 'Just what I was looking for.' }, ...view },
}

/** A plausible event, with the given fields over the made-up ones. */
export const createSampleEvent = (
  type: PublishableEventType,
  place: SamplePlace,
  given: Record<string, unknown>,
): Record<string, unknown> => ({ type, ...place, ...samples[type], ...given })
