// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { ExternalIds, NextPage, PlaceUrls, ShortName, Time, Title, Visibility } from './common.ts'

/**
 * A site.
 */
export interface Site {
  object: 'site'
  id: string
  title: string
  slug: string
  /**
   * The id of its organization.
   */
  organization: string
  urls: PlaceUrls
  /**
   * Whether its pages adapt to claims of visitors: the site has a schema of claims.
   */
  adaptiveContent: {
    enabled: boolean
  }
  visibility: Visibility
  externalIds: ExternalIds
  createdAt: Time
}

/**
 * Sites of an organization.
 */
export interface SiteList {
  items: Site[]
  next?: NextPage
  count: number
}

/**
 * A site to make.
 */
export interface NewSite {
  slug: ShortName
  title: Title
  /**
   * Where visitors read the site. Without it: at the first origin of its pages.
   */
  url?: string
  visibility?: Visibility
  externalIds?: ExternalIds
}

/**
 * Fields of a site to change.
 */
export interface SiteChange {
  slug?: ShortName
  title?: Title
  /**
   * Where visitors read the site. Null: at the first origin of its pages.
   */
  url?: string | null
  visibility?: Visibility
  externalIds?: ExternalIds
}

/**
 * A site that was deleted.
 */
export interface DeletedSite {
  object: 'site'
  id: string
  /**
   * How many records went with it.
   */
  deleted: {}
}

export interface ListSitesQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface SitesOperations {
  listSites: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { org: string }
    query: ListSitesQuery
    body: undefined
    answer: SiteList
  }
  createSite: {
    roles: 'admin' | 'operator'
    params: { org: string }
    query: object
    body: NewSite
    answer: Site
  }
  getSiteById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { org: string; site: string }
    query: object
    body: undefined
    answer: Site
  }
  updateSiteById: {
    roles: 'editor' | 'admin' | 'operator'
    params: { org: string; site: string }
    query: object
    body: SiteChange
    answer: Site
  }
  deleteSiteById: {
    roles: 'admin' | 'operator'
    params: { org: string; site: string }
    query: object
    body: undefined
    answer: DeletedSite
  }
}
