// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { ShortName, Time, Title } from './common.ts'

/**
 * A space.
 */
export interface Space {
  object: 'space'
  id: string
  title: string
  slug: string
  /**
   * The id of its organization.
   */
  organization: string
  /**
   * The id of its current revision. Null while it has no content.
   */
  revision: string | null
  createdAt: Time
}

/**
 * Spaces of an organization.
 */
export interface SpaceList {
  items: Space[]
  count: number
}

/**
 * A space to make.
 */
export interface NewSpace {
  slug: ShortName
  title: Title
  /**
   * Absolute, or relative to the working directory of Annex.
   */
  folder: string
}

/**
 * A revision of a space's content.
 */
export interface Revision {
  object: 'revision'
  id: string
  /**
   * The id of its space.
   */
  space: string
  createdAt: Time
  pages: Page[]
}

/**
 * A page without its text.
 */
export interface Page {
  object: 'page'
  id: string
  type: 'document'
  title: string
  /**
   * The path of the Markdown file without its ending.
   */
  path: string
  /**
   * The last segment of the path.
   */
  slug: string
}

/**
 * A page with its text.
 */
export type PageWithMarkdown = Page & {
  markdown: string
}

/**
 * The pages of a revision.
 */
export interface PageList {
  pages: Page[]
}

export interface GetSpaceByIdQuery {
  /**
   * For operators: the organization, by its id or subdomain.
   */
  organization?: string
}

export interface GetCurrentRevisionQuery {
  /**
   * For operators: the organization, by its id or subdomain.
   */
  organization?: string
}

export interface ListPagesQuery {
  /**
   * For operators: the organization, by its id or subdomain.
   */
  organization?: string
}

export interface GetPageByIdQuery {
  /**
   * For operators: the organization, by its id or subdomain.
   */
  organization?: string
}

export interface SpacesOperations {
  listSpacesInOrganizationById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { org: string }
    query: object
    body: undefined
    answer: SpaceList
  }
  createSpace: {
    roles: 'operator'
    params: { org: string }
    query: object
    body: NewSpace
    answer: Space
  }
  getSpaceById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string }
    query: GetSpaceByIdQuery
    body: undefined
    answer: Space
  }
  getCurrentRevision: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string }
    query: GetCurrentRevisionQuery
    body: undefined
    answer: Revision
  }
  listPages: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string }
    query: ListPagesQuery
    body: undefined
    answer: PageList
  }
  getPageById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string; page: string }
    query: GetPageByIdQuery
    body: undefined
    answer: PageWithMarkdown
  }
}
