// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage } from './common.ts'
import type { ListedSiteInstallation, ListedSpaceInstallation } from './installations.ts'

/**
 * A page of site installations of an integration.
 */
export interface IntegrationInSites {
  items: ListedSiteInstallation[]
  next?: NextPage
  count: number
}

/**
 * A page of space installations of an integration.
 */
export interface IntegrationInSpaces {
  items: ListedSpaceInstallation[]
  next?: NextPage
  count: number
}

export interface ListIntegrationSiteInstallationsQuery {
  /**
   * Only those with this external id.
   */
  externalId?: string
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface ListIntegrationSpaceInstallationsQuery {
  /**
   * Only those with this external id.
   */
  externalId?: string
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface IntegrationLevelsOperations {
  listIntegrationSiteInstallations: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'integration'
    params: { integration: string }
    query: ListIntegrationSiteInstallationsQuery
    body: undefined
    answer: IntegrationInSites
  }
  listIntegrationSpaceInstallations: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'integration'
    params: { integration: string }
    query: ListIntegrationSpaceInstallationsQuery
    body: undefined
    answer: IntegrationInSpaces
  }
}
