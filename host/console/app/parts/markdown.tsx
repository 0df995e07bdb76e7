import { h } from 'preact'
import type { MarkdownNode } from '../../../../schemas/generated/api/common.ts'
import { OutsideLink } from './outside-link.tsx'

/** Draws the tree of a Markdown text. The page has its own h1 and h2: headings of the text begin below them. */
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
  return h(headings[tag] ?? tag, null, drawn)
}

const headings: Readonly<Record<string, string>> = { h1: 'h3', h2: 'h4', h3: 'h5', h4: 'h6' }
