import { useEffect } from 'preact/hooks'
import type { Block, Page } from '../../../../../schemas/generated/api/content.ts'
import type { Space } from '../../../../../schemas/generated/api/spaces.ts'
import { api } from '../../api.ts'
import { type Load, useLoad } from '../../use-load.ts'
import { flatten } from './page-list.ts'
import { addressOf, inSpace } from './space-address.ts'

export type SpaceName = { org: string; space: string }

/** A space with its pages, and the blocks that they may have. */
export type ReadSpace = SpaceName & {
  record: Space
  pages: Page[]
  all: Page[]
  paths: ReadonlySet<string>
  blocks: Block[]
}

/** What each page of a space gets. `reload` reads the space again. */
export type PartProps = { of: ReadSpace; reload: () => void }

export const crumbsOf = ({ org, space, record }: ReadSpace) => [
  { label: org, href: `/orgs/${org}` },
  { label: record.title, href: addressOf(org, space) },
]

/** The space that was shown last: its list does not blink on the way from page to page. */
let last: { key: string; value: ReadSpace } | undefined

export function useSpace({ org, space }: SpaceName): Load<ReadSpace> {
  const key = `space ${org} ${space}`
  const load = useLoad(key, async (signal): Promise<ReadSpace> => {
    const given = { ...inSpace({ org, space }), signal }
    const record = await api.call('GET /v1/spaces/{space}', given)
    const [{ pages }, { items }] = await Promise.all([
      record.revision === null ? { pages: [] } : api.call('GET /v1/spaces/{space}/content/pages', given),
      api.call('GET /v1/spaces/{space}/blocks', given),
    ])
    const all = flatten(pages)
    const paths = new Set(all.map(({ path }) => path))
    return { org, space, record, pages, all, paths, blocks: items }
  })
  useEffect(() => {
    if (load.value !== undefined) last = { key, value: load.value }
  }, [key, load.value])
  const kept = last?.key === key ? last.value : undefined
  const reload = () => {
    last = undefined
    load.reload()
  }
  return { ...load, ...(load.value === undefined && load.error === undefined && { value: kept }), reload }
}
