import { api } from '../../api.ts'
import { Loaded } from '../../parts/state.tsx'
import { spaceTexts as texts } from '../../texts/space.ts'
import { useKept, useLoad } from '../../use-load.ts'
import type { ShownBlock } from './block.tsx'
import { replaceLines, toBlockText } from './block-text.ts'
import type { Draft } from './draft.ts'
import { PageText } from './page-text.tsx'
import { inSpace } from './space-address.ts'
import type { ReadSpace } from './use-space.ts'

/** The page as it will be. A block that changes its properties changes the Markdown. */
export function Preview({
  of,
  path,
  draft: { markdown, title },
  onMarkdown,
}: {
  of: ReadSpace
  path: string
  draft: Draft
  onMarkdown: (markdown: string) => void
}) {
  const load = useKept(
    useLoad(`preview ${markdown}`, async (signal) => {
      const body = { markdown, page: path }
      return api.call('POST /v1/spaces/{space}/content/preview', { ...inSpace(of), body, signal })
    }),
  )
  const changeBlock = ({ known, lines }: ShownBlock, props: Record<string, unknown>) => {
    const [line = ''] = lines === undefined ? [] : markdown.split('\n').slice(lines[0])
    // In a list or quote each of its lines has more in front.
    if (known === undefined || lines === undefined || !/^(?:```|~~~|\{%)/.test(line)) return
    onMarkdown(replaceLines(markdown, lines, toBlockText(known, props)))
  }
  const { org, space, blocks, paths } = of
  return (
    <div class="preview">
      <Loaded of={load} isEmpty={({ tree }) => tree.length === 0} empty={<p>{texts.noText}</p>}>
        {({ tree }) => (
          <PageText {...{ tree, title, path, org, space, blocks, paths }} onProps={changeBlock} />
        )}
      </Loaded>
    </div>
  )
}
