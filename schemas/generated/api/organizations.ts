// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { ShortName, Time, Title } from './common.ts'

/**
 * An organization.
 */
export interface Organization {
  object: 'organization'
  id: string
  subdomain: string
  title: string
  createdAt: Time
}

/**
 * The organizations that the token may see.
 */
export interface OrganizationList {
  items: Organization[]
  count: number
}

/**
 * An organization to make.
 */
export interface NewOrganization {
  subdomain: ShortName
  title: Title
}

/**
 * A token to make.
 */
export interface NewOrganizationToken {
  label?: string
}

/**
 * A new token of an organization.
 */
export interface OrganizationToken {
  token: string
  /**
   * The id of the organization.
   */
  organization: string
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
    query: object
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
  createOrganizationToken: {
    roles: 'operator'
    params: { org: string }
    query: object
    body: NewOrganizationToken
    answer: OrganizationToken
  }
}
