import { h } from 'preact'
import type { MarkdownNode } from '../../../../schemas/generated/api/common.ts'
import { OutsideLink } from './outside-link.tsx'

/**
 * Draws the tree of a Markdown text. Its headings are of one level, below the h2 of the page: an author who leaves a level out
 * would lead a screen reader astray.
 */
export const Markdown = ({ tree }: { tree: readonly MarkdownNode[] }) => (
  <div class="markdown" dir="auto">
    <Nodes nodes={tree} />
  </div>
)

const Nodes = ({ nodes }: { nodes: readonly MarkdownNode[] }) => (
  <>
    {nodes.map((node, index) => (
      <Node key={index} node={node} />
    ))}
  </>
)

function Node({ node }: { node: MarkdownNode }) {
  if (typeof node === 'string') return <>{node}</>
  const { tag, href, start, children } = node
  const drawn = children && <Nodes nodes={children} />
  if (tag === 'a') return <OutsideLink href={href ?? ''}>{drawn}</OutsideLink>
  if (tag === 'ol') return <ol start={start}>{drawn}</ol>
  return h(/^h\d$/.test(tag) ? 'h3' : tag, null, drawn)
}
