import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Space as SpaceView } from '../../schemas/generated/api/spaces.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { insertSpace, listSpaces, type Space } from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'
import { assertOperator, organizationOf } from './caller.ts'
import type { OnOperation, OperationRequest } from './operations.ts'
import { visiblePlace } from './visible-records.ts'

export type SpaceParts = {
  db: Db
  /** Reads all plugin folders and spaces again. */
  reload: () => Promise<unknown>
}

/** A request for a space or a part of it. */
export type SpaceRequest = Pick<OperationRequest<'getSpaceById'>, 'params' | 'query' | 'operation'> & {
  caller: Caller
}

/** Spaces, for members of the organization and for scripts with the scope. */
export function addSpaceRoutes(on: OnOperation, { db, reload }: SpaceParts): void {
  on('listSpacesInOrganizationById', async ({ caller, params }) => {
    const { id } = await organizationOf(db, caller, params.org)
    const items = (await listSpaces(db, id)).map(toSpace)
    return { items, count: items.length }
  })

  on('createSpace', async ({ caller, params, body }) => {
    const { slug, title } = body
    const organization = await organizationOf(db, caller, params.org)
    if (body.folder !== undefined) assertOperator(caller)
    const folder = body.folder === undefined ? null : await toFolder(body.folder)
    const space = await insertSpace(db, { organizationId: organization.id, slug, title, folder })
    if (space === undefined)
      throw new AnnexError('conflict', `There is a space "${slug}" in that organization already.`)
    if (folder !== null) await reload()
    return toSpace(space)
  })

  on('getSpaceById', async (request) => toSpace(await openSpace(db, request)))
}

/** The space that a request names. An operator may name the organization of a slug. */
export async function openSpace(db: Db, { caller, params, query, operation }: SpaceRequest): Promise<Space> {
  const isNamed = caller.kind === 'operator' && query.organization !== undefined
  const organization = isNamed ? await organizationOf(db, caller, query.organization) : undefined
  return visiblePlace(db, caller, operation, {
    kind: 'space',
    name: params.space,
    ...(organization && { organizationId: organization.id }),
  })
}

/** @throws AnnexError `not_found` */
async function toFolder(given: string): Promise<string> {
  const folder = resolve(given)
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory()) return folder
  throw new AnnexError('not_found', `There is no folder ${folder} on the machine of Annex. Make it first.`)
}

function toSpace({ id, organizationId, slug, title, revisionId, problems, createdAt }: Space): SpaceView {
  return {
    object: 'space',
    id,
    title,
    slug,
    organization: organizationId,
    revision: revisionId,
    ...(problems !== '[]' && { problems: JSON.parse(problems) }),
    createdAt: new Date(createdAt).toISOString(),
  }
}
