import type { PublishableEventType } from '../../schemas/events.ts'

/** The ids that the type of a sample event needs. */
export type SampleIds = { siteId?: string; spaceId?: string; pageId?: string; revisionId?: string }

/** A made-up visitor. The address is from a range for documentation (RFC 5737). */
const visitor = {
  anonymousId: 'visitor-sample',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  ip: '203.0.113.7',
  cookies: {},
}

const view = { visitor, url: 'https://docs.example.com/welcome', referrer: 'https://www.example.com/' }

/** The ids in the payload of each type (spec 2.5). */
export const idFieldsOf: Record<PublishableEventType, readonly (keyof SampleIds)[]> = {
  space_content_updated: ['spaceId', 'revisionId'],
  site_view: ['siteId'],
  page_feedback: ['siteId', 'spaceId', 'pageId'],
}

const samples: Record<PublishableEventType, object> = {
  space_content_updated: {},
  site_view: view,
  page_feedback: { feedback: { rating: 'good', comment: 'Just what I was looking for.' }, ...view },
}

/** A sample event. The given fields replace its own. */
export const createSampleEvent = (
  type: PublishableEventType,
  ids: SampleIds,
  given: Record<string, unknown>,
): Record<string, unknown> => ({ type, ...ids, ...samples[type], ...given })
