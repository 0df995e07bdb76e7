import { isAbsolute, resolve } from 'node:path'
import type {
  Page,
  Revision as RevisionView,
  Space as SpaceView,
} from '../../schemas/generated/api/spaces.ts'
import type { Caller } from '../access/tokens.ts'
import { readSpaceFolder } from '../content/read-space-folder.ts'
import type { Db } from '../db/db.ts'
import {
  findRevision,
  insertSpace,
  listSpaces,
  type PageRecord,
  type Revision,
  type Space,
} from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'
import { organizationOf } from './caller.ts'
import type { OnOperation, OperationRequest } from './operations.ts'
import { visiblePlace } from './visible-records.ts'

export type SpaceParts = {
  db: Db
  /** Reads all plugin folders and spaces again. */
  reload: () => Promise<unknown>
}

/** A request for a space or a part of it. */
type SpaceRequest = Pick<OperationRequest<'getSpaceById'>, 'params' | 'query' | 'operation'> & {
  caller: Caller
}

/** Spaces and their content, for members of the organization and for scripts with the scope. */
export function addSpaceRoutes(on: OnOperation, { db, reload }: SpaceParts): void {
  on('listSpacesInOrganizationById', async ({ caller, params }) => {
    const { id } = await organizationOf(db, caller, params.org)
    const items = (await listSpaces(db, id)).map(toSpace)
    return { items, count: items.length }
  })

  on('createSpace', async ({ caller, params, body }) => {
    const { slug, title } = body
    const organization = await organizationOf(db, caller, params.org)
    const folder = isAbsolute(body.folder) ? body.folder : resolve(body.folder)
    await readSpaceFolder(folder)
    const space = await insertSpace(db, { organizationId: organization.id, slug, title, folder })
    if (space === undefined)
      throw new AnnexError('conflict', `There is a space "${slug}" in that organization already.`)
    await reload()
    return toSpace(space)
  })

  on('getSpaceById', async (request) => toSpace(await openSpace(request)))

  on('getCurrentRevision', async (request) => toRevision(await currentRevision(request)))

  on('listPages', async (request) => ({ pages: (await currentRevision(request)).pages.map(toPage) }))

  on('getPageById', async (request) => {
    const revision = await currentRevision(request)
    const { page: id } = request.params
    const page = revision.pages.find((one) => one.id === id)
    if (page === undefined)
      throw new AnnexError('not_found', `The revision ${revision.id} has no page ${id}.`)
    return { ...toPage(page), markdown: page.markdown }
  })

  async function currentRevision(request: SpaceRequest): Promise<Revision> {
    const space = await openSpace(request)
    const revision = space.revisionId === null ? undefined : await findRevision(db, space.revisionId)
    if (revision === undefined) throw new AnnexError('not_found', `The space ${space.id} has no content yet.`)
    return revision
  }

  async function openSpace({ caller, params, query, operation }: SpaceRequest): Promise<Space> {
    const isNamed = caller.kind === 'operator' && query.organization !== undefined
    const organization = isNamed ? await organizationOf(db, caller, query.organization) : undefined
    return visiblePlace(db, caller, operation, {
      kind: 'space',
      name: params.space,
      ...(organization && { organizationId: organization.id }),
    })
  }
}

function toSpace({ id, organizationId, slug, title, revisionId, createdAt }: Space): SpaceView {
  return {
    object: 'space',
    id,
    title,
    slug,
    organization: organizationId,
    revision: revisionId,
    createdAt: new Date(createdAt).toISOString(),
  }
}

function toRevision({ id, spaceId, createdAt, pages }: Revision): RevisionView {
  return {
    object: 'revision',
    id,
    space: spaceId,
    createdAt: new Date(createdAt).toISOString(),
    pages: pages.map(toPage),
  }
}

function toPage({ id, title, path }: PageRecord): Page {
  return { object: 'page', id, type: 'document', title, path, slug: path.split('/').at(-1) ?? path }
}
