import { h } from 'preact'
import { useMemo } from 'preact/hooks'
import type { MarkdownTree } from '../../../../../schemas/generated/api/common.ts'
import type { Block } from '../../../../../schemas/generated/api/content.ts'
import { type DrawElement, Markdown } from '../../parts/markdown.tsx'
import { spaceTexts as texts } from '../../texts/space.ts'
import { BlockView, type ShownBlock } from './block.tsx'
import { textOf, toOutline } from './outline.ts'
import { findLinked } from './page-list.ts'
import { addressOf } from './space-address.ts'

export type PageTextProps = {
  tree: MarkdownTree
  title: string
  path: string
  org: string
  space: string
  blocks: readonly Block[]
  /** The paths of the space's pages: links among them lead there. */
  paths: ReadonlySet<string>
  /** Given while the page is edited: a block changes its properties. */
  onProps?: (block: ShownBlock, props: Record<string, unknown>) => void
}

/** The text of a page: Markdown, with the blocks of integrations drawn by their scripts. */
export function PageText({ tree, title, path, org, space, blocks, paths, onProps }: PageTextProps) {
  const outline = useMemo(() => toOutline(tree, title), [tree, title])
  const draw: DrawElement = (element, drawn) => {
    const { tag, page, language } = element
    if (/^h\d$/.test(tag)) return h(tag, null, drawn)
    // The marks of lists and quotes are at the side where their text begins.
    if (tag === 'ul' || tag === 'blockquote') return h(tag, { dir: 'auto' }, drawn)
    if (tag === 'ol')
      return (
        <ol dir="auto" start={element.start}>
          {drawn}
        </ol>
      )
    if (tag === 'table') {
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard scrolls the box
        <section class="scroll" aria-label={texts.table} tabIndex={0}>
          <table>{drawn}</table>
        </section>
      )
    }
    if (tag === 'a' && page !== undefined) {
      const linked = findLinked(paths, path, page)
      return linked === undefined ? drawn : <a href={addressOf(org, space, 'pages', linked)}>{drawn}</a>
    }
    const shown = toShownBlock(element, blocks)
    if (shown !== undefined) return <BlockView {...{ shown, org }} page={path} onProps={onProps} />
    if (tag === 'pre')
      return (
        <pre data-language={language} dir="ltr">
          {drawn}
        </pre>
      )
    return undefined
  }
  return <Markdown tree={outline} draw={draw} />
}

type Element = Parameters<DrawElement>[0]

/** A block as it is written, or fenced code whose language is that of a block. */
function toShownBlock(element: Element, blocks: readonly Block[]): ShownBlock | undefined {
  const { tag, language, integration, block, props = {}, lines } = element
  const source = textOf(element)
  if (tag === 'block') {
    const known = blocks.find(({ id, ...of }) => id === block && of.integration === integration)
    return { known, integration: integration ?? '', props, source, lines }
  }
  if (tag !== 'pre' || language === undefined) return undefined
  const known = blocks.find(({ markdown }) => markdown?.codeblock === language)
  if (known === undefined) return undefined
  const { body } = known.markdown ?? {}
  const code = source.replace(/\n$/, '')
  return {
    known,
    integration: known.integration,
    props: body === undefined ? {} : { [body]: code },
    source: code,
    lines,
  }
}
