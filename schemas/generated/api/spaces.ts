// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { ExternalIds, NextPage, PlaceUrls, ShortName, Time, Title, Visibility } from './common.ts'

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
  urls: PlaceUrls
  /**
   * The id of its current revision. Null while it has no content.
   */
  revision: string | null
  /**
   * Its pages are files of a folder on the machine of Annex, and are edited there. Absent for other spaces.
   */
  ofFolder?: true
  /**
   * What is wrong in its folder: files that are left out, fields that are ignored. At most 50. Absent while there is nothing.
   */
  problems?: FileProblem[]
  visibility: Visibility
  externalIds: ExternalIds
  createdAt: Time
}

/**
 * Spaces of an organization.
 */
export interface SpaceList {
  items: Space[]
  next?: NextPage
  count: number
}

/**
 * A space to make.
 */
export interface NewSpace {
  slug: ShortName
  title: Title
  /**
   * Where visitors read the space.
   */
  url?: string
  /**
   * A folder of Markdown on the machine of Annex: absolute, or relative to its working directory. Only an operator names one. Without it, pages come through the API.
   */
  folder?: string
  visibility?: Visibility
  externalIds?: ExternalIds
}

/**
 * A file that is left out, a field that is ignored, or a line of the list, with the reason and the next step.
 */
export interface FileProblem {
  /**
   * Relative to the folder.
   */
  file: string
  line?: number
  message: string
}

/**
 * Fields of a space to change.
 */
export interface SpaceChange {
  slug?: ShortName
  title?: Title
  /**
   * Where visitors read the space. Null: nowhere.
   */
  url?: string | null
  visibility?: Visibility
  externalIds?: ExternalIds
}

/**
 * A space that was deleted.
 */
export interface DeletedSpace {
  object: 'space'
  id: string
  /**
   * How many records went with it.
   */
  deleted: {
    revisions: number
  }
}

export interface ListSpacesInOrganizationByIdQuery {
  /**
   * The most items of a page. Above 1,000 it is cut.
   */
  limit: number
  /**
   * `next.page` of the page before, at the same address with the same filters. Without it the first page.
   */
  page?: string
}

export interface GetSpaceByIdQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface UpdateSpaceByIdQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface DeleteSpaceByIdQuery {
  /**
   * For operators: the organization, by its id, subdomain or external id.
   */
  organization?: string
}

export interface SpacesOperations {
  listSpacesInOrganizationById: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { org: string }
    query: ListSpacesInOrganizationByIdQuery
    body: undefined
    answer: SpaceList
  }
  createSpace: {
    roles: 'admin' | 'operator'
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
  updateSpaceById: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { space: string }
    query: UpdateSpaceByIdQuery
    body: SpaceChange
    answer: Space
  }
  deleteSpaceById: {
    roles: 'admin' | 'operator'
    params: { space: string }
    query: DeleteSpaceByIdQuery
    body: undefined
    answer: DeletedSpace
  }
}
