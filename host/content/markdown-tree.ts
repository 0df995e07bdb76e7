import MarkdownIt, { type Token } from 'markdown-it'
import type { MarkdownNode, MarkdownTree } from '../../schemas/generated/api/common.ts'

/** HTML in the text stays text: a page draws the tree, and no HTML of an author reaches a browser. */
const markdownIt = new MarkdownIt({ html: false })

type Element = Exclude<MarkdownNode, string>
type Tag = Element['tag']

/** By the name of the token that opens it. */
const tags: Readonly<Record<string, Tag | undefined>> = {
  paragraph: 'p',
  blockquote: 'blockquote',
  bullet_list: 'ul',
  ordered_list: 'ol',
  list_item: 'li',
  strong: 'strong',
  em: 'em',
  s: 's',
  table: 'table',
  thead: 'thead',
  tbody: 'tbody',
  tr: 'tr',
  th: 'th',
  td: 'td',
}

/**
 * Markdown as a tree of elements. The only address in it is that of a link. A picture is a link to itself: fetched by a page,
 * it would tell another host who reads the page, and when.
 */
export function toMarkdownTree(text: string): MarkdownTree {
  return toNodes(markdownIt.parse(text, {}), false)
}

type Open = { element: Element | undefined; children: MarkdownNode[] }

function toNodes(tokens: readonly Token[], isInLink: boolean): MarkdownNode[] {
  const root: MarkdownNode[] = []
  const open: Open[] = []
  for (const token of tokens) {
    const children = open.at(-1)?.children ?? root
    if (token.nesting === 1) {
      const element = toElement(token)
      open.push({ element, children: element?.children ?? children })
      if (element !== undefined) children.push(element)
    } else if (token.nesting === -1) open.pop()
    else append(children, toLeaves(token, isInLink || open.some(({ element }) => element?.tag === 'a')))
  }
  return root
}

/** @returns undefined for a token whose children stand without it */
function toElement(token: Token): (Element & { children: MarkdownNode[] }) | undefined {
  if (token.hidden) return undefined
  const { type, tag } = token
  const name = type.replace(/_open$/, '')
  const children: MarkdownNode[] = []
  if (name === 'heading') return { tag: tag as Tag, children }
  if (name === 'link') {
    const href = toSafeAddress(token.attrGet('href'))
    return href === undefined ? undefined : { tag: 'a', href, children }
  }
  const known = tags[name]
  if (known === undefined) return undefined
  const start = known === 'ol' ? token.attrGet('start') : null
  return { tag: known, ...(start !== null && { start: Number(start) }), children }
}

function toLeaves(token: Token, isInLink: boolean): MarkdownNode[] {
  const { type, content } = token
  switch (type) {
    case 'inline':
      return toNodes(token.children ?? [], isInLink)
    case 'softbreak':
      return ['\n']
    case 'hardbreak':
      return [{ tag: 'br' }]
    case 'hr':
      return [{ tag: 'hr' }]
    case 'code_inline':
      return [{ tag: 'code', children: [content] }]
    case 'fence':
    case 'code_block':
      return [{ tag: 'pre', children: [{ tag: 'code', children: [content] }] }]
    case 'image':
      return toPicture(token, isInLink)
    default:
      return content === '' ? [] : [content]
  }
}

function toPicture(token: Token, isInLink: boolean): MarkdownNode[] {
  const href = toSafeAddress(token.attrGet('src'))
  const text = markdownIt.renderer.renderInlineAsText(token.children ?? [], markdownIt.options, {})
  if (href === undefined || isInLink) return text === '' ? [] : [text]
  return [{ tag: 'a', href, children: [text === '' ? href : text] }]
}

/** Texts beside each other become one. */
function append(children: MarkdownNode[], nodes: readonly MarkdownNode[]): void {
  for (const node of nodes) {
    const last = children.length - 1
    const before = children[last]
    if (typeof node === 'string' && typeof before === 'string') children[last] = before + node
    else children.push(node)
  }
}

const safeProtocols: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:'])

/** An address without a host of its own would be one of Annex. A script or a document in an address is never a link. */
function toSafeAddress(address: string | number | null): string | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined
  const { protocol, href } = new URL(address)
  return safeProtocols.has(protocol) ? href : undefined
}
