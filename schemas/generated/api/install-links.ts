// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { NextPage, Time } from './common.ts'
import type { TokenLabel } from './tokens.ts'

/**
 * An install link, without its key.
 */
export interface InstallLink {
  object: 'install-link'
  id: string
  integration: string
  label: TokenLabel
  createdAt: Time
}

export interface InstallLinkList {
  items: InstallLink[]
  next?: NextPage
  count: number
}

/**
 * A new install link. It is shown this once.
 */
export interface MadeInstallLink {
  object: 'install-link'
  id: string
  integration: string
  label: TokenLabel
  createdAt: Time
  /**
   * For `installKey` of an install.
   */
  installKey: string
  /**
   * What the integration asks for, for each person with a token.
   */
  url: string
  /**
   * The page of the integration in Annex, to hand on.
   */
  app: string
}

export interface NewInstallLink {
  label?: TokenLabel
}

export interface ListInstallLinksQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface InstallLinksOperations {
  listInstallLinks: {
    roles: 'admin' | 'operator'
    params: { integration: string }
    query: ListInstallLinksQuery
    body: undefined
    answer: InstallLinkList
  }
  createInstallLink: {
    roles: 'admin' | 'operator'
    params: { integration: string }
    query: object
    body: NewInstallLink
    answer: MadeInstallLink
  }
  revokeInstallLink: {
    roles: 'admin' | 'operator'
    params: { integration: string; link: string }
    query: object
    body: undefined
    answer: void
  }
}
