import MarkdownIt, { type Token } from 'markdown-it'
import type { MarkdownNode, MarkdownTree } from '../../schemas/generated/api/common.ts'
import { toFilePath } from '../manifest/summary-pictures.ts'
import { readBlock, type WrittenBlock } from './page-blocks.ts'

/** HTML in the text stays text: a page draws the tree, and no HTML of an author reaches a browser. */
const markdownIt = new MarkdownIt({ html: false })

/** As `markdownIt`, with the blocks of integrations. They stand alone, and in no quote or list. */
const pageMarkdown = new MarkdownIt({ html: false })
pageMarkdown.block.ruler.before(
  'paragraph',
  'integration_block',
  (state, start, end, isSilent) => {
    const { src, bMarks, tShift, eMarks } = state
    if (state.level > 0 || (state.sCount[start] ?? 0) >= 4) return false
    const from = (bMarks[start] ?? 0) + (tShift[start] ?? 0)
    const found = readBlock(src, from)
    if (found === undefined) return false
    let last = start
    while (last < end && (eMarks[last] ?? 0) < found.end) last += 1
    if (last === end || src.slice(found.end, eMarks[last]).trim() !== '') return false
    if (isSilent) return true
    const token = state.push('integration_block', '', 0)
    token.content = src.slice(from, found.end)
    token.meta = found
    token.map = [start, last + 1]
    state.line = last + 1
    return true
  },
  { alt: ['paragraph', 'blockquote', 'list', 'reference'] },
)

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
 * Markdown as a tree of elements. Its addresses are those of links and pictures. A page shows a picture by its `src` alone, which
 * `placePictures` adds: fetched from its own address, it would tell another host who reads the page, and when.
 */
export function toMarkdownTree(text: string): MarkdownTree {
  return toNodes(markdownIt.parse(text, {}), { isPage: false })
}

/** As `toMarkdownTree`, for a page of a space: with blocks, languages of code, and addresses of pages beside it. */
export function toPageTree(text: string): MarkdownTree {
  return toNodes(pageMarkdown.parse(text, {}), { isPage: true })
}

type Within = { isPage: boolean }

type Open = { element: Element | undefined; children: MarkdownNode[] }

function toNodes(tokens: readonly Token[], { isPage }: Within): MarkdownNode[] {
  const root: MarkdownNode[] = []
  const open: Open[] = []
  for (const token of tokens) {
    const children = open.at(-1)?.children ?? root
    if (token.nesting === 1) {
      const element = toElement(token, isPage)
      open.push({ element, children: element?.children ?? children })
      if (element !== undefined) children.push(element)
    } else if (token.nesting === -1) open.pop()
    else append(children, toLeaves(token, { isPage }))
  }
  return root
}

/** @returns undefined for a token whose children stand without it */
function toElement(token: Token, isPage: boolean): (Element & { children: MarkdownNode[] }) | undefined {
  if (token.hidden) return undefined
  const { type, tag } = token
  const name = type.replace(/_open$/, '')
  const children: MarkdownNode[] = []
  if (name === 'heading') return { tag: tag as Tag, children }
  if (name === 'link') {
    const given = token.attrGet('href')
    const href = toSafeAddress(given)
    if (href !== undefined) return { tag: 'a', href, children }
    const page = isPage ? toFilePath(given) : undefined
    return page === undefined ? undefined : { tag: 'a', page, children }
  }
  const known = tags[name]
  if (known === undefined) return undefined
  const start = known === 'ol' ? token.attrGet('start') : null
  return { tag: known, ...(start !== null && { start: Number(start) }), children }
}

function toLeaves(token: Token, within: Within): MarkdownNode[] {
  const { type, content, map } = token
  const lines = within.isPage && map !== null ? { lines: map } : {}
  switch (type) {
    case 'inline':
      return toNodes(token.children ?? [], within)
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
      return [
        {
          tag: 'pre',
          ...(within.isPage && toLanguage(token)),
          ...lines,
          children: [{ tag: 'code', children: [content] }],
        },
      ]
    case 'integration_block': {
      const { integration, block, props } = token.meta as WrittenBlock
      return [{ tag: 'block', integration, block, props, ...lines, children: [content] }]
    }
    case 'image':
      return toPicture(token)
    default:
      return content === '' ? [] : [content]
  }
}

/** The first word behind the fence. */
function toLanguage({ info }: Token): { language?: string } {
  const [language = ''] = info.trim().split(/\s/)
  return language === '' ? {} : { language: language.slice(0, 100) }
}

/** A picture without an address that can be fetched is its text. */
function toPicture(token: Token): MarkdownNode[] {
  const given = token.attrGet('src')
  const text = markdownIt.renderer.renderInlineAsText(token.children ?? [], markdownIt.options, {})
  const children = text === '' ? [] : [text]
  const href = toSafeAddress(given)
  if (href !== undefined) return /^http/.test(href) ? [{ tag: 'img', href, children }] : children
  const file = toFilePath(given)
  return file === undefined || file.startsWith('/') ? children : [{ tag: 'img', file, children }]
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
