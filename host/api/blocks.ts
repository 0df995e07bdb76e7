import type { Block } from '../../schemas/generated/api/content.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { imageKeyOf } from '../access/install-keys.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { createLru } from '../cache.ts'
import { type BlockElement, blockElements, toBlock } from '../content/block-elements.ts'
import { drawPage } from '../content/draw-page.ts'
import type { Db } from '../db/db.ts'
import { findRunning } from '../db/queries/installations.ts'
import { listPlaceRowsOn } from '../db/queries/levels.ts'
import { findPage } from '../db/queries/pages.ts'
import { findCurrentRevision } from '../db/queries/revisions.ts'
import { AnnexError } from '../errors.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import { assetsOf, toAssetUrl } from '../manifest/images.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import { askComponentOptions } from './component-options.ts'
import type { OnOperation } from './operations.ts'
import { type RenderParts, renderForPage } from './render.ts'
import { openSpace, type SpaceRequest } from './spaces.ts'

type BlockParts = RenderParts & {
  reader: Db
  box: SecretBox
  publicUrl: () => string
  prepareDispatch: Pick<PrepareDispatch, 'prepare'>
}

const keptPages = 20
const keptMs = 60_000

/** What a page of a space shows beside Markdown. */
export function addBlockRoutes(on: OnOperation, parts: BlockParts): void {
  const { reader, box, publicUrl, prepareDispatch } = parts
  /** By the digest of a page's text: a page with many blocks is drawn once. */
  const drawn = createLru<Promise<BlockElement[]>>(keptPages, { ttl: keptMs })

  on('GET /v1/spaces/{space}/blocks', async (request) => {
    const items = await listBlocks((await openSpace(reader, request)).id)
    return { items }
  })

  on('POST /v1/spaces/{space}/content/page/{page}/blocks/{line}', async (request) => {
    const { block, props, space } = await openBlock(request)
    const prepared = await prepareDispatch.prepare(levelOf(block, space))
    const shown = { type: 'document', editable: false, theme: request.body.theme ?? 'light' }
    return renderForPage(parts, prepared, { componentId: block.id, props, context: shown }, request.context)
  })

  on('POST /v1/spaces/{space}/content/page/{page}/blocks/{line}/options', async (request) => {
    const { block, space } = await openBlock(request)
    return askComponentOptions(parts, levelOf(block, space), request.body, request.context)
  })

  /** @throws AnnexError `not_found` where the stored page has no block */
  async function openBlock(request: SpaceRequest & { params: { page: string; line: string } }) {
    const { page: name, line } = request.params
    const space = await openSpace(reader, request)
    const revision = await findCurrentRevision(reader, space.id)
    const page = revision && (await findPage(reader, { spaceId: space.id, number: revision.number }, name))
    const elements = page?.markdown ? await draw(page.digest, page.markdown) : []
    const element = elements.find(({ lines }) => lines?.[0] === Number(line))
    const found = element && toBlock(element, await listBlocks(space.id))
    if (found !== undefined) return { ...found, space: space.id }
    const where = `the line ${line} of the page ${name}`
    throw new AnnexError('not_found', `No block of what is installed in the space begins at ${where}.`)
  }

  function draw(digest: string, markdown: string): Promise<BlockElement[]> {
    const elements = drawn.get(digest) ?? drawPage(markdown).then(blockElements)
    drawn.set(digest, elements)
    return elements
  }

  async function listBlocks(spaceId: string): Promise<Block[]> {
    const items: Block[] = []
    for (const { installationId } of await listPlaceRowsOn(reader, 'space', spaceId)) {
      const running = await findRunning(reader, installationId)
      if (running?.manifest === undefined) continue
      const installed = { installation: running.installation.id, space: spaceId }
      items.push(...blocksOf(running.manifest, installed))
    }
    return items.toSorted((a, b) => (a.integrationTitle < b.integrationTitle ? -1 : 1))
  }

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

const levelOf = ({ integration, installation }: Block, space: string): LevelRef => ({
  kind: 'space',
  integration,
  installationId: installation,
  placeId: space,
})
