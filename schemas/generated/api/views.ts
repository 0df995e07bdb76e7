// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'

/**
 * A visitor opened a page.
 */
export interface SiteVisit {
  /**
   * The site's public key.
   */
  key: string
  /**
   * The address of the page, of the same origin as the header Origin.
   */
  url: string
  referrer?: string
  /**
   * Names no person. Without it, Annex makes one that holds for a day.
   */
  anonymousId?: string
  /**
   * The page's id in a space.
   */
  pageId?: string
  /**
   * Cookies of the page by name. Those that the site's settings do not name are left out.
   */
  cookies?: {
    [k: string]: string
  }
}

/**
 * What a visitor thinks of a page.
 */
export interface PageFeedback {
  /**
   * The site's public key.
   */
  key: string
  /**
   * The address of the page, of the same origin as the header Origin.
   */
  url: string
  referrer?: string
  /**
   * Names no person. Without it, Annex makes one that holds for a day.
   */
  anonymousId?: string
  /**
   * The page's id in a space.
   */
  pageId?: string
  rating: string
  comment?: string
  /**
   * The space that has the page. It belongs to the organization of the site.
   */
  spaceId?: string
}

/**
 * What a page needs to send views.
 */
export interface SiteScript {
  /**
   * Public: a page shows it.
   */
  key: string
  origins: string[]
  /**
   * Names of the cookies that pages send with a view.
   */
  cookies: string[]
  url: string
  /**
   * For the head of each page.
   */
  html: string
}

/**
 * Settings of a site's script.
 */
export interface SiteScriptEdit {
  /**
   * Such as https://docs.example.com, without a path.
   *
   * @maxItems 20
   */
  origins?: string[]
  /**
   * Names of cookies, such as that of a consent. Pages send their values with a view, and scripts with `site:views:read` read them.
   *
   * @maxItems 10
   */
  cookies?: string[]
  /**
   * Makes a new key.
   */
  newKey?: boolean
}

/**
 * A stored `site_view`.
 */
export interface StoredSiteView {
  eventId: string
  type: 'site_view'
  siteId: string
  pageId?: string
  visitor: {
    [k: string]: unknown
  }
  url: string
  referrer?: string
  at: Time
}

/**
 * Views of a site.
 */
export interface SiteViewList {
  items: StoredSiteView[]
  count: number
  next?: NextPage
}

/**
 * Views of a day or an address.
 */
export interface SiteViewCount {
  day?: string
  url?: string
  views: number
  /**
   * Different values of `visitor.anonymousId`.
   */
  visitors: number
}

/**
 * Counts of a site's views.
 */
export interface SiteViewCounts {
  items: SiteViewCount[]
  count: number
}

/**
 * The event of a view or of feedback.
 */
export interface RecordedVisit {
  eventId: string
}

export interface ListSiteViewsQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface CountSiteViewsQuery {
  /**
   * What is counted together.
   */
  by: 'day' | 'url'
  /**
   * Default: seven days ago.
   */
  from?: string
  /**
   * Default: now.
   */
  to?: string
  /**
   * The most items of an answer.
   */
  limit: number
}

export interface ViewsOperations {
  getSiteScript: {
    roles: 'anyone'
    params: { site: string }
    query: object
    body: undefined
    answer: void
  }
  recordSiteView: {
    roles: 'anyone'
    params: { site: string }
    query: object
    body: SiteVisit
    answer: RecordedVisit
  }
  allowSiteViews: {
    roles: 'anyone'
    params: { site: string }
    query: object
    body: undefined
    answer: void
  }
  recordPageFeedback: {
    roles: 'anyone'
    params: { site: string }
    query: object
    body: PageFeedback
    answer: RecordedVisit
  }
  allowPageFeedback: {
    roles: 'anyone'
    params: { site: string }
    query: object
    body: undefined
    answer: void
  }
  getSiteScriptSettings: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { org: string; site: string }
    query: object
    body: undefined
    answer: SiteScript
  }
  updateSiteScriptSettings: {
    roles: 'editor' | 'admin' | 'operator'
    params: { org: string; site: string }
    query: object
    body: SiteScriptEdit
    answer: SiteScript
  }
  listSiteViews: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { org: string; site: string }
    query: ListSiteViewsQuery
    body: undefined
    answer: SiteViewList
  }
  countSiteViews: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { org: string; site: string }
    query: CountSiteViewsQuery
    body: undefined
    answer: SiteViewCounts
  }
}
