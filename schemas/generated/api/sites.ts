// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { ShortName, Time, Title } from './common.ts'

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
  createdAt: Time
}

/**
 * Sites of an organization.
 */
export interface SiteList {
  items: Site[]
  count: number
}

/**
 * A site to make.
 */
export interface NewSite {
  slug: ShortName
  title: Title
}

export interface SitesOperations {
  listSites: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { org: string }
    query: object
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
}
