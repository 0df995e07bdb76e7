import type { Block } from '../../../../../schemas/generated/api/content.ts'

type Props = Record<string, unknown>

/** A block as Markdown: a fence where its manifest names one that holds all its properties, else `{% @integration/block … %}`. */
export function toBlockText({ integration, id, markdown }: Block, props: Props): string {
  const names = Object.keys(props)
  const { codeblock, body } = markdown ?? {}
  if (codeblock !== undefined && names.every((name) => name === body)) {
    const code = String((body && props[body]) ?? '')
    const fence = '`'.repeat(Math.max(3, 1 + longestRun(code)))
    return `${fence}${codeblock}\n${code}\n${fence}`
  }
  const written = Object.entries(props)
    .filter(([name, value]) => /^[A-Za-z]\w{0,99}$/.test(name) && value !== undefined)
    .map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
  return `{% @${integration}/${id}${written.join('')} %}`
}

const longestRun = (text: string): number =>
  Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))

/** The first block that a pasted link becomes. */
export const findUnfurling = (blocks: readonly Block[], link: string): Block | undefined =>
  blocks.find(({ urlUnfurl }) => urlUnfurl.some((pattern) => matchesPattern(pattern, link)))

/**
 * True for an address of http or https that a pattern matches. `*` stands for any text, in the host without a slash. A pattern
 * without a host of its own matches nothing: no integration gets the links of all the web.
 */
export function matchesPattern(pattern: string, link: string): boolean {
  if (!/^https?:\/\/\S+$/i.test(link) || !URL.canParse(link)) return false
  const { protocol, host, pathname, search, hash } = new URL(link)
  const [, scheme = '*', rest = ''] = /^(?:([a-z*]+):\/\/)?(.*)$/is.exec(pattern) ?? []
  const slash = rest.indexOf('/')
  const ofHost = (slash < 0 ? rest : rest.slice(0, slash)).toLowerCase()
  const ofPath = slash < 0 ? '/' : rest.slice(slash)
  if (!isOwnHost(ofHost)) return false
  return (
    matches(scheme.toLowerCase(), protocol.slice(0, -1)) &&
    matches(ofHost, host) &&
    matches(ofPath, pathname + search + hash)
  )
}

/** Fixed, or with a fixed name of two labels behind its last `*`: `*.clips.example`, and not `*.com`. */
function isOwnHost(host: string): boolean {
  const star = host.lastIndexOf('*')
  if (star < 0) return host !== ''
  const [first, ...labels] = host.slice(star + 1).split('.')
  return first === '' && labels.length > 1 && !labels.includes('')
}

/** Without a regular expression: patterns are texts of strangers, and a bad one would take forever. */
function matches(pattern: string, text: string): boolean {
  const [first = '', ...parts] = pattern.split(/\*+/)
  const last = parts.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/** Replaces lines of a text. `lines`: the first one, and the one behind the last. */
export function replaceLines(text: string, [from = 0, to = 0]: readonly number[], by: string): string {
  const all = text.split('\n')
  return [...all.slice(0, from), ...by.split('\n'), ...all.slice(to)].join('\n')
}

/** What to insert so that a block stands alone, with an empty line on both sides. */
export function standAlone(text: string, start: number, end: number, block: string): string {
  const before = text.slice(0, start)
  const after = text.slice(end)
  const lead =
    before === '' || /\n[ \t]*\n[ \t]*$/.test(before) ? '' : /\n[ \t]*$/.test(before) ? '\n' : '\n\n'
  const tail =
    after === '' ? '\n' : /^[ \t]*\n[ \t]*(\n|$)/.test(after) ? '' : /^[ \t]*\n/.test(after) ? '\n' : '\n\n'
  return lead + block + tail
}

/** True where nothing else is on the line of the selection. */
export function isOnOwnLine(text: string, start: number, end: number): boolean {
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start)
  const lineEnd = text.indexOf('\n', end)
  return (before + text.slice(end, lineEnd < 0 ? undefined : lineEnd)).trim() === ''
}
