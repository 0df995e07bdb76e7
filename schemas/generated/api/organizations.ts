// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { ExternalIds, NextPage, ShortName, Time, Title } from './common.ts'

/**
 * An organization.
 */
export interface Organization {
  object: 'organization'
  id: string
  subdomain: string
  title: string
  externalIds: ExternalIds
  createdAt: Time
}

/**
 * The organizations that the token may see.
 */
export interface OrganizationList {
  items: Organization[]
  next?: NextPage
  count: number
}

/**
 * An organization to make.
 */
export interface NewOrganization {
  subdomain: ShortName
  title: Title
  externalIds?: ExternalIds
}

/**
 * The setup token of the first start.
 */
export interface SetupToken {
  token: string
}

/**
 * A new operator's token.
 */
export interface OperatorToken {
  token: string
}

/**
 * Fields of an organization to change.
 */
export interface OrganizationChange {
  subdomain?: ShortName
  title?: Title
  externalIds?: ExternalIds
}

/**
 * An organization that was deleted.
 */
export interface DeletedOrganization {
  object: 'organization'
  id: string
  /**
   * How many records went with it.
   */
  deleted: {
    sites: number
    spaces: number
    members: number
    tokens: number
    events: number
  }
}

export interface ListOrganizationsQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface OrganizationsOperations {
  redeemSetupToken: {
    roles: 'anyone'
    params: {}
    query: object
    body: SetupToken
    answer: OperatorToken
  }
  listOrganizations: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: {}
    query: ListOrganizationsQuery
    body: undefined
    answer: OrganizationList
  }
  createOrganization: {
    roles: 'operator'
    params: {}
    query: object
    body: NewOrganization
    answer: Organization
  }
  getOrganizationById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { org: string }
    query: object
    body: undefined
    answer: Organization
  }
  updateOrganizationById: {
    roles: 'admin' | 'operator'
    params: { org: string }
    query: object
    body: OrganizationChange
    answer: Organization
  }
  deleteOrganizationById: {
    roles: 'operator'
    params: { org: string }
    query: object
    body: undefined
    answer: DeletedOrganization
  }
}
