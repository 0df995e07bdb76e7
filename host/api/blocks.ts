import type { Block } from '../../schemas/generated/api/content.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { imageKeyOf } from '../access/install-keys.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import { findRunning } from '../db/queries/installations.ts'
import { listPlaceRowsOn } from '../db/queries/levels.ts'
import { assetsOf, toAssetUrl } from '../manifest/images.ts'
import type { OnOperation } from './operations.ts'
import { openSpace } from './spaces.ts'

type BlockParts = { reader: Db; box: SecretBox; publicUrl: () => string }

/** What a page of a space may show beside Markdown. */
export function addBlockRoutes(on: OnOperation, { reader, box, publicUrl }: BlockParts): void {
  on('GET /v1/spaces/{space}/blocks', async (request) => {
    const space = await openSpace(reader, request)
    const items: Block[] = []
    for (const { installationId } of await listPlaceRowsOn(reader, 'space', space.id)) {
      const running = await findRunning(reader, installationId)
      if (running?.manifest === undefined) continue
      const installed = { installation: running.installation.id, space: space.id }
      items.push(...blocksOf(running.manifest, installed))
    }
    return { items: items.toSorted((a, b) => (a.integrationTitle < b.integrationTitle ? -1 : 1)) }
  })

  function blocksOf(manifest: Manifest, installed: Pick<Block, 'installation' | 'space'>): Block[] {
    const assets = assetsOf(manifest, publicUrl(), imageKeyOf(box, manifest.name))
    return (manifest.blocks ?? []).map(
      ({ id, title, description, icon = manifest.icon, urlUnfurl, markdown }) => ({
        object: 'block',
        id,
        integration: manifest.name,
        integrationTitle: manifest.title,
        ...installed,
        title,
        ...(description !== undefined && { description }),
        ...(icon !== undefined && { icon: toAssetUrl(assets, icon) }),
        urlUnfurl: urlUnfurl ?? [],
        ...(markdown !== undefined && { markdown }),
      }),
    )
  }
}
