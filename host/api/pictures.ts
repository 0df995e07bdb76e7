import type { Context } from 'koa'
import type { Db } from '../db/db.ts'
import { findRunning } from '../db/queries/installations.ts'
import { findSpace } from '../db/queries/places.ts'
import type { FetchPicture } from '../dispatches/fetch-picture.ts'
import { type PictureKeys, pictureRouteOf, pictureRouteOfSpace } from '../dispatches/picture-keys.ts'
import { AnnexError } from '../errors.ts'
import type { OnOperation } from './operations.ts'

type PictureParts = { reader: Db; pictureKeys: PictureKeys; fetchPicture: FetchPicture }

/** How long a browser keeps a picture. */
const maxAgeSeconds = 60 * 60

/** Pictures of other hosts in components and in pages of spaces, which the host reads for a page. */
export function addPictureRoutes(on: OnOperation, { reader, pictureKeys, fetchPicture }: PictureParts): void {
  on('GET /v1/integrations/{integration}/installations/{installation}/picture', async (request) => {
    const { installation: id, integration } = request.params
    const address = readSigned(request, pictureRouteOf(request.params))
    const running = await findRunning(reader, id)
    if (running === undefined || running.installation.integration !== integration) throw notSigned()
    const { organizationId: organization } = running.installation
    const declared = { integration, hosts: running.manifest?.egress }
    sendPicture(request.context, await fetchPicture(address, { id, organization, declared }))
  })

  on('GET /v1/spaces/{space}/picture', async (request) => {
    const { space: id } = request.params
    const address = readSigned(request, pictureRouteOfSpace(id))
    const space = await findSpace(reader, id)
    if (space === undefined) throw notSigned()
    const of = { id, organization: space.organizationId, declared: undefined }
    sendPicture(request.context, await fetchPicture(address, of))
  })

  /** @throws AnnexError `not_found` for an address that Annex has not signed for this route */
  function readSigned({ query }: { query: SignedQuery }, route: string): string {
    const { address = '', until = '', key = '' } = query
    if (pictureKeys.isKey(key, { route, address, until: Number(until) })) return address
    throw notSigned()
  }
}

type SignedQuery = { address?: string; until?: string; key?: string }

const notSigned = (): AnnexError =>
  new AnnexError('not_found', 'This address of a picture is not valid any more. Load its page again.')

function sendPicture(context: Context, { type, bytes }: Awaited<ReturnType<FetchPicture>>): void {
  context.type = `image/${type}`
  context.set('cache-control', `private, max-age=${maxAgeSeconds}`)
  context.set('content-security-policy', "default-src 'none'; sandbox")
  context.set('cross-origin-resource-policy', 'same-origin')
  context.set('x-content-type-options', 'nosniff')
  context.body = bytes
}
