import MarkdownIt, { type Env, type Token } from 'markdown-it'

/** Markdown as tokens. The content of inline tokens is parsed where it is needed. */
const markdownIt = new MarkdownIt({ html: true })
markdownIt.core.ruler.enableOnly(['normalize', 'block'])
// An address that a browser must not open is still the address of a link. Readers check it.
markdownIt.validateLink = () => true
markdownIt.block.ruler.before('table', 'front_matter', (state, start, end, isSilent) => {
  const lineAt = (n: number): string => state.src.slice(state.bMarks[n], state.eMarks[n]).trimEnd()
  if (start !== 0 || state.level > 0 || isSilent || lineAt(0) !== '---') return false
  let close = 1
  while (close < end && lineAt(close) !== '---' && lineAt(close) !== '...') close += 1
  // A rule of hyphens without a second one is no front matter.
  if (close === end) return false
  const token = state.push('front_matter', '', 0)
  token.content = state.src.slice(state.bMarks[1], state.bMarks[close])
  token.map = [0, close + 1]
  state.line = close + 1
  return true
})

export type { Token }
export type Blocks = { tokens: Token[]; env: Env }

/** The time grows with the lines: callers bound the text. */
export function parseBlocks(text: string): Blocks {
  const env: Env = {}
  return { tokens: markdownIt.parse(text, env), env }
}

/** Brackets cost the square of their number. */
const maxInline = 1000

/** The marks and words of a heading or paragraph, up to 1,000 characters. */
export function parseInline(content: string, env: Env): Token[] {
  const tokens: Token[] = []
  markdownIt.inline.parse(content.slice(0, maxInline), markdownIt, env, tokens)
  return tokens
}

/** What a reader sees as one line: no marks, no tags, entities resolved, and images by their text. */
export function toPlainText(tokens: readonly Token[]): string {
  return tokens.map(textOf).join('').replace(/\s+/g, ' ').trim()
}

function textOf({ type, content, children }: Token): string {
  if (type === 'image') return toPlainText(children ?? [])
  if (type === 'softbreak' || type === 'hardbreak') return ' '
  if (type === 'html_inline') return /^<br\b/i.test(content) ? ' ' : ''
  return content
}

/** Most pages have their heading in the first part. A hostile page costs no more than the second. */
const partSizes = [1024, 64 * 1024]

export type PageParts = {
  /** YAML. It begins on the second line. */
  frontMatter: string | undefined
  /** The text below the front matter. */
  markdown: string
  /** The plain text of the first heading that is not in a quote or list, and is not empty. */
  heading: string | undefined
}

/** Finds the front matter and the heading in the first 64 KiB. */
export function splitPage(text: string): PageParts {
  let parts: PageParts = { frontMatter: undefined, markdown: text, heading: undefined }
  for (const size of partSizes) {
    const part = firstLines(text, size)
    const { tokens, env } = parseBlocks(part)
    const [first] = tokens
    const heading = findHeading(tokens, env)
    const frontMatter = first?.type === 'front_matter' ? first : undefined
    parts = {
      frontMatter: frontMatter?.content,
      markdown: afterLines(text, frontMatter?.map?.[1] ?? 0),
      heading: heading?.text,
    }
    const isSure = frontMatter !== undefined || !part.startsWith('---')
    if (part === text || (isSure && heading?.isWhole)) break
  }
  return parts
}

/** @returns `isWhole`: no text further down changes the heading, as the address of a reference may stand there */
function findHeading(tokens: readonly Token[], env: Env): { text: string; isWhole: boolean } | undefined {
  for (const [n, { type, level }] of tokens.entries()) {
    const content = type === 'heading_open' && level === 0 ? tokens[n + 1]?.content : undefined
    if (content === undefined) continue
    const text = toPlainText(parseInline(content, env))
    if (text !== '') return { text, isWhole: !content.includes('[') }
  }
  return undefined
}

function firstLines(text: string, size: number): string {
  if (text.length <= size) return text
  const end = text.lastIndexOf('\n', size - 1) + 1
  return text.slice(0, end === 0 ? size : end)
}

/** The text without its first lines, and without an empty line below them. */
function afterLines(text: string, count: number): string {
  if (count === 0) return text
  const ends = /\r\n?|\n/g
  for (let n = 0; n < count; n += 1) if (ends.exec(text) === null) return ''
  return text.slice(ends.lastIndex).replace(/^(\r\n?|\n)/, '')
}
