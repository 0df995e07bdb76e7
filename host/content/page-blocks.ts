import { assertShallow } from '../assert-json.ts'

/** A block in Markdown: `{% @clips/clip url="https://clips.example/1" wide=true %}`. `end`: the offset behind it. */
export type WrittenBlock = { integration: string; block: string; props: Record<string, unknown>; end: number }

const opening = /\{% @([A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)\/([^\s/{}%"=]{1,100})(?=\s)/y
/** None is called `__proto__`. */
const property = /\s+([A-Za-z]\w{0,99})=/y
const closing = /\s+%\}/y
const mostProperties = 100

/** Reads the block that begins at an offset. @returns undefined where there is none, or it is not written as a block is */
export function readBlock(text: string, start: number): WrittenBlock | undefined {
  const head = match(opening, text, start)
  if (head === undefined) return undefined
  const [, integration = '', block = ''] = head
  const props = new Map<string, unknown>()
  let at = start + head[0].length
  for (;;) {
    const close = match(closing, text, at)
    if (close !== undefined) {
      const end = at + close[0].length
      return { integration, block, props: Object.fromEntries(props), end }
    }
    const name = match(property, text, at)
    if (name?.[1] === undefined || props.has(name[1]) || props.size === mostProperties) return undefined
    at += name[0].length
    const end = endOfValue(text, at)
    const value = end === undefined ? undefined : parseValue(text.slice(at, end))
    if (end === undefined || value === undefined) return undefined
    props.set(name[1], value)
    at = end
  }
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(text) ?? undefined
}

/** A value ends at the first white space that is not in a string. */
function endOfValue(text: string, start: number): number | undefined {
  let isInString = false
  for (let at = start; at < text.length; at += 1) {
    const char = text[at] as string
    if (isInString) {
      if (char === '\\') at += 1
      else if (char === '"') isInString = false
    } else if (char === '"') isInString = true
    else if (/\s/.test(char)) return at
  }
  return undefined
}

/** JSON. A string may go over several lines. */
function parseValue(text: string): unknown {
  try {
    assertShallow(text)
    return JSON.parse(text.replaceAll('\r', '').replaceAll('\n', '\\n').replaceAll('\t', '\\t'))
  } catch {
    return undefined
  }
}
