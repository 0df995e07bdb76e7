import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Space as SpaceView } from '../../schemas/generated/api/spaces.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { withExternalIds, withExternalIdsOf } from '../db/queries/external-ids.ts'
import { findSpace, listSpaces, type Space } from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'
import type { Metrics } from '../metrics/create-metrics.ts'
import { changeSpace } from '../places/change-space.ts'
import { createPlace, deletePlace } from '../places/records.ts'
import { assertOperator, organizationOf, originOf } from './caller.ts'
import { idCursor, listPage, toIso } from './list-query.ts'
import type { OnOperation, OperationRequest } from './operations.ts'
import { toPlaceUrls } from './place-urls.ts'
import { visiblePlace } from './visible-records.ts'

type SpaceParts = {
  db: Db
  reader: Db
  box: SecretBox
  publicUrl: () => string
  /** Reads all plugin folders and spaces again. */
  reload: () => Promise<unknown>
  metrics: Pick<Metrics, 'observeEvent'>
}

/** A request for a space or a part of it. */
export type SpaceRequest = Pick<
  OperationRequest<'GET /v1/spaces/{space}'>,
  'params' | 'query' | 'operation' | 'context'
> & {
  caller: Caller
}

/** Spaces, for members of the organization and for scripts with the scope. */
export function addSpaceRoutes(
  on: OnOperation,
  { db, reader, box, publicUrl, reload, metrics }: SpaceParts,
): void {
  const view = async (space: Space) => toSpace(await withExternalIdsOf(reader, space), publicUrl())

  on('GET /v1/orgs/{org}/spaces', async (request) => {
    const organization = await organizationOf(db, request.caller, request.params.org)
    return listPage(request, {
      cursor: idCursor('space'),
      read: async (at) => withExternalIds(db, await listSpaces(db, organization.id, at)),
      cursorOf: ({ id }) => id,
      toView: (space) => toSpace(space, publicUrl()),
    })
  })

  on('POST /v1/orgs/{org}/spaces', async (request) => {
    const { caller, params, body } = request
    const { id: organizationId } = await organizationOf(db, caller, params.org)
    if (body.folder !== undefined) assertOperator(caller)
    const folder = body.folder === undefined ? null : await toFolder(body.folder)
    const space = await createPlace(db, box, 'space', { ...body, organizationId, folder }, originOf(request))
    if (folder === null) return view(space)
    await reload()
    // With the first revision, and the problems of the folder.
    return view((await findSpace(db, space.id)) ?? space)
  })

  on('GET /v1/spaces/{space}', async (request) => view(await openSpace(reader, request)))

  on('PATCH /v1/spaces/{space}', async (request) => {
    const { id } = await openSpace(db, request)
    const changed = await changeSpace(db, originOf(request), id, request.body, (type, receipt) => {
      metrics.observeEvent(type, receipt)
    })
    return view(changed)
  })

  on('DELETE /v1/spaces/{space}', async (request) => {
    const { id } = await openSpace(db, request)
    const deleted = await deletePlace(db, originOf(request), 'space', id)
    return { object: 'space', id, deleted }
  })
}

/** The space that a request names. An operator may name the organization of a slug. */
export async function openSpace(db: Db, request: SpaceRequest): Promise<Space> {
  const { caller, params, query } = request
  const isNamed = caller.kind === 'operator' && query.organization !== undefined
  const organization = isNamed ? await organizationOf(db, caller, query.organization) : undefined
  return visiblePlace(db, request, {
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

function toSpace(space: Space & { externalIds: string[] }, publicUrl: string): SpaceView {
  const { id, organizationId, title, slug, folder, revisionId, problems, visibility, externalIds } = space
  return {
    object: 'space',
    id,
    title,
    slug,
    organization: organizationId,
    urls: toPlaceUrls(publicUrl, 'space', space, space.url),
    revision: revisionId,
    ...(folder !== null && { ofFolder: true as const }),
    ...(problems !== '[]' && { problems: JSON.parse(problems) }),
    visibility,
    externalIds,
    createdAt: toIso(space.createdAt),
  }
}
