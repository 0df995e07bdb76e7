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
import type { AskParts } from '../dispatches/ask-script.ts'
import { renderComponent } from '../dispatches/render-component.ts'
import { type Hops, hopsHeader } from '../egress/loop-guard.ts'
import { AnnexError } from '../errors.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import { assetsOf, toAssetUrl } from '../manifest/images.ts'
import type { OnOperation } from './operations.ts'
import { openSpace } from './spaces.ts'

type BlockParts = AskParts & {
  reader: Db
  box: SecretBox
  publicUrl: () => string
  prepareDispatch: Pick<PrepareDispatch, 'prepare'>
  /** Reads from a signed header how many scripts a request has passed. */
  readHops: Hops['read']
}

const keptPages = 20
const keptMs = 60_000

/** What a page of a space shows beside Markdown. */
export function addBlockRoutes(on: OnOperation, parts: BlockParts): void {
  const { reader, box, publicUrl, prepareDispatch, readHops } = parts
  /** By the digest of a page's text: a page with many blocks is drawn once. */
  const drawn = createLru<Promise<BlockElement[]>>(keptPages, { ttl: keptMs })

  on('GET /v1/spaces/{space}/blocks', async (request) => {
    const items = await listBlocks((await openSpace(reader, request)).id)
    return { items }
  })

  on('POST /v1/spaces/{space}/content/page/{page}/blocks/{line}', async (request) => {
    const { params, body, context } = request
    const space = await openSpace(reader, request)
    const revision = await findCurrentRevision(reader, space.id)
    const page =
      revision && (await findPage(reader, { spaceId: space.id, number: revision.number }, params.page))
    const elements = page?.markdown ? await draw(page.digest, page.markdown) : []
    const element = elements.find(({ lines }) => lines?.[0] === Number(params.line))
    const found = element && toBlock(element, await listBlocks(space.id))
    if (found === undefined) {
      const where = `the line ${params.line} of the page ${params.page}`
      throw new AnnexError('not_found', `No block of what is installed in the space begins at ${where}.`)
    }
    const { integration, installation: installationId, id: componentId } = found.block
    const prepared = await prepareDispatch.prepare({
      ...{ kind: 'space', integration, installationId, placeId: space.id },
    })
    const shown = { type: 'document', editable: false, theme: body.theme ?? 'light' }
    const question = { componentId, props: found.props, context: shown }
    const hops = readHops(String(context.req.headers[hopsHeader] ?? ''))
    const asking = { requestId: context.state.requestId, hops }
    const { rendered, maxAgeSeconds } = await renderComponent(parts, prepared, question, asking)
    if (maxAgeSeconds > 0) context.set('cache-control', `max-age=${maxAgeSeconds}`)
    return rendered
  })

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
