import { createHash } from 'node:crypto'
import type { PageHead } from '../db/queries/pages.ts'
import { AnnexError } from '../errors.ts'
import type { OwnFiles } from '../manifest/read-inside.ts'
import type { PlacedPage } from './order-pages.ts'
import type { WantedPage } from './plan-revision.ts'
import { readPage } from './read-page.ts'
import type { SpaceFolder } from './read-space-folder.ts'

/**
 * Gives each page its id. A page keeps its id while its path stays. A page at a new path keeps the id of one that is gone,
 * where exactly one of both has this text or this title. Any other gets an id that is made of its path.
 */
export function toWantedPages(
  { pages, root }: SpaceFolder,
  current: readonly PageHead[],
  ownFiles: OwnFiles | undefined,
): WantedPage[] {
  const ids = new Map(current.map(({ path, id }) => [path, id]))
  const paths = new Set(pages.map(({ path }) => path))
  const gone = current.filter(({ path }) => !paths.has(path))
  const added = pages.filter(({ path }) => !ids.has(path))
  const free = new Set(gone.map(({ id }) => id))
  for (const keyOf of [byText, byTitle]) {
    const from = onlyOnes(
      gone.filter(({ id }) => free.has(id)),
      keyOf,
    )
    const to = onlyOnes(
      added.filter(({ path }) => !ids.has(path)),
      (page) => keyOf({ digest: digestOf(page), title: page.title }),
    )
    for (const [key, page] of to) {
      const old = from.get(key)
      if (old === undefined) continue
      ids.set(page.path, old.id)
      free.delete(old.id)
    }
  }
  const taken = new Set(pages.flatMap(({ path }) => ids.get(path) ?? []))
  for (const { path } of added) {
    if (ids.has(path)) continue
    let id = idOf(path)
    for (let n = 2; taken.has(id); n += 1) id = idOf(`${path} ${n}`)
    taken.add(id)
    ids.set(path, id)
  }
  return pages.map((page) => toWanted(page, root, ids, ownFiles))
}

function toWanted(
  page: PlacedPage,
  root: string,
  ids: ReadonlyMap<string, string>,
  ownFiles: OwnFiles | undefined,
): WantedPage {
  const { path, parent, title, file } = page
  return {
    id: ids.get(path) ?? idOf(path),
    kind: file === undefined ? 'group' : 'document',
    path,
    parentId: parent === undefined ? null : (ids.get(parent) ?? null),
    title,
    description: file?.description ?? null,
    digest: digestOf(page),
    writtenBy: null,
    async readText() {
      if (file === undefined) return { markdown: null, document: null }
      const read = await readPage(root, file.file, ownFiles)
      if ('markdown' in read) return { markdown: read.markdown, document: null }
      const text = `${read.problem.file} changed while it was read. Annex reads the folder again.`
      throw new AnnexError('conflict', text)
    },
  }
}

type Likeness = Pick<PageHead, 'digest' | 'title'>
const byText = ({ digest }: Likeness): string => digest
const byTitle = ({ title }: Likeness): string => title

const digestOf = ({ file, title }: PlacedPage): string => file?.digest ?? `group ${title}`

/** Items whose key no other item has. */
function onlyOnes<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item> {
  const groups = Map.groupBy(items, keyOf)
  return new Map([...groups].flatMap(([key, [item, another]]) => (item && !another ? [[key, item]] : [])))
}

const idOf = (path: string): string => `page_${createHash('sha256').update(path).digest('hex').slice(0, 24)}`
