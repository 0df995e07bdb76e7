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
  /**
   * Files of its folder that are left out, at most 50. Absent while there are none.
   */
  problems?: FileProblem[]
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
   * A folder of Markdown on the machine of Annex: absolute, or relative to its working directory. Only an operator names one. Without it, pages come through the API.
   */
  folder?: string
}

/**
 * A file that is left out, with the reason and the next step.
 */
export interface FileProblem {
  /**
   * Relative to the folder.
   */
  file: string
  line?: number
  message: string
}

export interface GetSpaceByIdQuery {
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
    roles: 'editor' | 'admin' | 'operator'
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
}
