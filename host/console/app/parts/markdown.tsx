import { type ComponentChildren, h } from 'preact'
import type { MarkdownNode } from '../../../../schemas/generated/api/common.ts'
import { componentTexts as texts } from '../texts/component.ts'
import { OutsideLink } from './outside-link.tsx'
import { Picture } from './picture.tsx'

type Element = Exclude<MarkdownNode, string>

/** Draws an element in another way than as itself. @returns undefined for an element as it is */
export type DrawElement = (element: Element, drawn: ComponentChildren) => ComponentChildren | undefined

/** Where a page reads the picture of another host from Annex, by its own address. */
export type SrcOf = (href: string) => string | undefined

/**
 * Draws the tree of a Markdown text. Its headings are of one level, below the h2 of the page: an author who leaves a level out
 * would lead a screen reader astray.
 *
 * @param srcOf for a tree whose pictures have no `src`
 */
export const Markdown = ({
  tree,
  ...way
}: {
  tree: readonly MarkdownNode[]
  draw?: DrawElement
  srcOf?: SrcOf
}) => (
  <div class="markdown" dir="auto">
    <Nodes nodes={tree} {...way} />
  </div>
)

type Way = { draw?: DrawElement | undefined; srcOf?: SrcOf | undefined; isInLink?: boolean }

const Nodes = ({ nodes, ...way }: Way & { nodes: readonly MarkdownNode[] }) => (
  <>
    {nodes.map((node, index) => (
      <Node key={index} node={node} {...way} />
    ))}
  </>
)

function Node({ node, ...way }: Way & { node: MarkdownNode }) {
  if (typeof node === 'string') return <>{node}</>
  const { tag, href, start, children } = node
  const drawn = children && (
    <Nodes nodes={children} {...way} isInLink={way.isInLink === true || tag === 'a'} />
  )
  const other = way.draw?.(node, drawn)
  if (other !== undefined) return <>{other}</>
  if (tag === 'a') return <OutsideLink href={href ?? ''}>{drawn}</OutsideLink>
  if (tag === 'img') return <MarkdownPicture picture={node} {...way} />
  if (tag === 'ol') return <ol start={start}>{drawn}</ol>
  if (tag === 'block') return <pre>{drawn}</pre>
  return h(/^h\d$/.test(tag) ? 'h3' : tag, null, drawn)
}

/** A link stands for a picture that is not shown. Within a link, its text does. */
function MarkdownPicture({ picture, srcOf, isInLink }: Way & { picture: Element }) {
  const { href = '', src = srcOf?.(href), children = [] } = picture
  const alt = children.join('')
  const text = alt || (URL.canParse(href) ? texts.picture(new URL(href).host) : '')
  return (
    <Picture
      kind="md-picture"
      // Any other address of Annex may act for the person.
      src={src?.startsWith('/v1/') ? src : undefined}
      alt={alt}
      instead={isInLink ? text : <OutsideLink href={href}>{text}</OutsideLink>}
    />
  )
}
