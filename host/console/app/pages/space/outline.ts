import type { MarkdownNode, MarkdownTree } from '../../../../../schemas/generated/api/common.ts'

/**
 * Gives headings their levels below the h1 of the page, none left out: a screen reader lists them. A first heading with the text
 * of the page's title is the title.
 */
export function toOutline(tree: MarkdownTree, title: string): MarkdownTree {
  const [first, ...rest] = tree
  const isTitle = typeof first === 'object' && first.tag === 'h1' && textOf(first).trim() === title
  let level = 1
  const adapt = (node: MarkdownNode): MarkdownNode => {
    if (typeof node === 'string') return node
    const wanted = /^h(\d)$/.exec(node.tag)?.[1]
    if (wanted === undefined) {
      return node.children === undefined ? node : { ...node, children: node.children.map(adapt) }
    }
    level = Math.min(Math.max(Number(wanted), 2), level + 1)
    return { ...node, tag: `h${level}` as 'h2' }
  }
  return (isTitle ? rest : tree).map(adapt)
}

export const textOf = (node: MarkdownNode): string =>
  typeof node === 'string' ? node : (node.children ?? []).map(textOf).join('')
