import type { Db } from '../db/db.ts'
import { findRunning } from '../db/queries/installations.ts'
import type { FetchPicture } from '../dispatches/fetch-picture.ts'
import type { PictureKeys } from '../dispatches/picture-keys.ts'
import { AnnexError } from '../errors.ts'
import type { OnOperation } from './operations.ts'

type PictureParts = { reader: Db; pictureKeys: PictureKeys; fetchPicture: FetchPicture }

/** How long a browser keeps a picture. */
const maxAgeSeconds = 60 * 60

/** Pictures of other hosts in components, which the host reads for a page. */
export function addPictureRoutes(on: OnOperation, { reader, pictureKeys, fetchPicture }: PictureParts): void {
  on(
    'GET /v1/integrations/{integration}/installations/{installation}/picture',
    async ({ params, query, context }) => {
      const { integration, installation } = params
      const { address = '', until = '', key = '' } = query
      const isSigned = pictureKeys.isKey(key, { installationId: installation, address, until: Number(until) })
      const running = isSigned ? await findRunning(reader, installation) : undefined
      if (running === undefined || running.installation.integration !== integration) {
        throw new AnnexError(
          'not_found',
          'This address of a picture is not valid any more. Render its component again.',
        )
      }
      const { organizationId } = running.installation
      const { type, bytes } = await fetchPicture(address, {
        ...{ integration, installation, organization: organizationId, hosts: running.manifest?.egress },
      })
      context.type = `image/${type}`
      context.set('cache-control', `private, max-age=${maxAgeSeconds}`)
      context.set('content-security-policy', "default-src 'none'; sandbox")
      context.set('cross-origin-resource-policy', 'same-origin')
      context.set('x-content-type-options', 'nosniff')
      context.body = bytes
    },
  )
}
