import { type ComponentChildren, h } from 'preact'
import type { MarkdownNode } from '../../../../schemas/generated/api/common.ts'
import { OutsideLink } from './outside-link.tsx'

type Element = Exclude<MarkdownNode, string>

/** Draws an element in another way than as itself. @returns undefined for an element as it is */
export type DrawElement = (element: Element, drawn: ComponentChildren) => ComponentChildren | undefined

/**
 * Draws the tree of a Markdown text. Its headings are of one level, below the h2 of the page: an author who leaves a level out
 * would lead a screen reader astray.
 */
export const Markdown = ({ tree, draw }: { tree: readonly MarkdownNode[]; draw?: DrawElement }) => (
  <div class="markdown" dir="auto">
    <Nodes nodes={tree} draw={draw} />
  </div>
)

type Of<Given> = Given & { draw: DrawElement | undefined }

const Nodes = ({ nodes, draw }: Of<{ nodes: readonly MarkdownNode[] }>) => (
  <>
    {nodes.map((node, index) => (
      <Node key={index} node={node} draw={draw} />
    ))}
  </>
)

function Node({ node, draw }: Of<{ node: MarkdownNode }>) {
  if (typeof node === 'string') return <>{node}</>
  const { tag, href, start, children } = node
  const drawn = children && <Nodes nodes={children} draw={draw} />
  const other = draw?.(node, drawn)
  if (other !== undefined) return <>{other}</>
  if (tag === 'a') return <OutsideLink href={href ?? ''}>{drawn}</OutsideLink>
  if (tag === 'ol') return <ol start={start}>{drawn}</ol>
  if (tag === 'block') return <pre>{drawn}</pre>
  return h(/^h\d$/.test(tag) ? 'h3' : tag, null, drawn)
}
