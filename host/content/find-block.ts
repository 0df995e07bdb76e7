import type { MarkdownNode, MarkdownTree } from '../../schemas/generated/api/common.ts'
import type { Block } from '../../schemas/generated/api/content.ts'

type Element = Exclude<MarkdownNode, string>

/** The block that begins at a line of a page, and its properties there. */
export function findBlock(
  tree: MarkdownTree,
  line: number,
  blocks: readonly Block[],
): { block: Block; props: Record<string, unknown> } | undefined {
  const element = findElement(tree, line)
  if (element === undefined) return undefined
  const { tag, integration, language, props = {} } = element
  if (tag === 'block') {
    const block = blocks.find(({ id, ...of }) => id === element.block && of.integration === integration)
    return block && { block, props }
  }
  const block = blocks.find(({ markdown }) => markdown?.codeblock === language)
  if (block === undefined) return undefined
  const { body } = block.markdown ?? {}
  return { block, props: body === undefined ? {} : { [body]: codeOf(element) } }
}

function findElement(nodes: readonly MarkdownNode[], line: number): Element | undefined {
  for (const node of nodes) {
    if (typeof node === 'string') continue
    const isThere = (node.tag === 'block' || node.language !== undefined) && node.lines?.[0] === line
    const found = isThere ? node : findElement(node.children ?? [], line)
    if (found !== undefined) return found
  }
  return undefined
}

/** Without the end of its last line. */
const codeOf = (node: MarkdownNode): string =>
  typeof node === 'string' ? node.replace(/\n$/, '') : (node.children ?? []).map(codeOf).join('')
