import type { MarkdownTree } from '../../schemas/generated/api/common.ts'
import { drawPage } from '../content/draw-page.ts'
import { pictureAddresses, placePictures } from '../content/place-pictures.ts'
import type { Db } from '../db/db.ts'
import { findRunning } from '../db/queries/installations.ts'
import type { PageHead, PageText } from '../db/queries/pages.ts'
import { type PictureKeys, pictureRouteOf, pictureRouteOfSpace } from '../dispatches/picture-keys.ts'

type Written = Pick<PageHead & PageText, 'markdown' | 'writtenBy'>

/**
 * Draws pages of spaces, with the addresses of their pictures. A picture is fetched within what its writer may reach: that of a
 * script within `egress` of its manifest.
 *
 * Attack: a script that reaches no host writes a page with a secret in the address of a picture.
 */
export function createDrawPage({ reader, pictureKeys }: { reader: Db; pictureKeys: PictureKeys }) {
  return async (spaceId: string, { markdown, writtenBy }: Written): Promise<MarkdownTree> => {
    const tree = await drawPage(markdown ?? '')
    const addresses = pictureAddresses(tree)
    if (addresses.size === 0) return tree
    const route =
      writtenBy === null ? pictureRouteOfSpace(spaceId) : await routeOfInstallation(reader, writtenBy)
    const pictures = route === undefined ? {} : pictureKeys.sign(route, addresses)
    return placePictures(tree, ({ href = '' }) => pictures[href])
  }
}

/** @returns undefined when it is uninstalled */
async function routeOfInstallation(reader: Db, id: string): Promise<string | undefined> {
  const running = await findRunning(reader, id)
  return running && pictureRouteOf({ integration: running.installation.integration, installation: id })
}
