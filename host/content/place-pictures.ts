import type { MarkdownNode, MarkdownTree } from '../../schemas/generated/api/common.ts'

type Element = Exclude<MarkdownNode, string>

/** The addresses of all pictures of other hosts in a Markdown tree, each once. */
export function pictureAddresses(nodes: readonly MarkdownNode[], found = new Set<string>()): Set<string> {
  for (const node of nodes) {
    if (typeof node === 'string') continue
    if (node.tag === 'img' && node.href !== undefined) found.add(node.href)
    pictureAddresses(node.children ?? [], found)
  }
  return found
}

/**
 * A Markdown tree whose pictures have the `src` where a page reads them.
 *
 * @param srcOf undefined for a picture that a page does not show
 */
export function placePictures(
  nodes: MarkdownTree,
  srcOf: (picture: Pick<Element, 'href' | 'file'>) => string | undefined,
): MarkdownTree {
  return nodes.map((node) => {
    if (typeof node === 'string') return node
    const src = node.tag === 'img' ? srcOf(node) : undefined
    const { children } = node
    return {
      ...node,
      ...(src !== undefined && { src }),
      ...(children && { children: placePictures(children, srcOf) }),
    }
  })
}
