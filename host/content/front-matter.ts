import { isAlias, isMap, isScalar, LineCounter, type Pair, parseDocument } from 'yaml'
import { toVisible } from '../manifest/message-text.ts'

/** What the front matter of a page says. */
export type Fields = {
  title?: string
  description?: string
  /** The position among the pages beside it. */
  position?: number
}

/** A mistake with its line in the file. */
export type Mistake = { line: number; message: string }

export const maxTitle = 200
const maxDescription = 1000
const maxFrontMatter = 16 * 1024

/**
 * Reads `title`, `description` and `position`. Other programs have more fields: these are ignored. A field that is wrong is
 * left out and reported.
 *
 * @returns a mistake for text that is no map of fields
 */
export function readFrontMatter(text: string): { fields: Fields; wrong: Mistake[] } | Mistake {
  if (text.length > maxFrontMatter) {
    return { line: 1, message: `The front matter is longer than ${maxFrontMatter} characters. Shorten it.` }
  }
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { uniqueKeys: false, logLevel: 'silent', lineCounter })
  const [error] = document.errors
  if (error !== undefined) {
    const line = (error.linePos?.[0].line ?? 1) + 1
    // Thousands of brackets overflow the stack of the parser.
    const isDeep = error.message.includes('call stack')
    const reason = isDeep ? 'nested too deeply' : error.message.split(/ at line \d+/)[0]
    return { line, message: `The front matter is not valid YAML: ${reason}. Mend it or remove it.` }
  }
  if (document.contents === null) return { fields: {}, wrong: [] }
  if (!isMap(document.contents)) {
    return { line: 2, message: 'The front matter is no map. Write fields such as "title: Start here".' }
  }
  const fields: Fields = {}
  const wrong: Mistake[] = []
  const seen = new Set<string>()
  for (const pair of document.contents.items) {
    const name = isScalar(pair.key) ? String(pair.key.value) : ''
    if (!isField(name)) continue
    const message = seen.has(name)
      ? `"${name}" of the front matter stands there twice. Annex takes the first. Remove one of both.`
      : readField(name, resolve(pair), fields)
    seen.add(name)
    const [start = 0] = isScalar(pair.key) ? (pair.key.range ?? []) : []
    if (message !== undefined) wrong.push({ line: lineCounter.linePos(start).line + 1, message })
  }
  return { fields, wrong }

  function resolve({ value }: Pair): unknown {
    const node = isAlias(value) ? value.resolve(document) : value
    if (!isScalar(node)) return node ?? null
    // "1.10" is a version, not the number 1.1.
    return typeof node.value === 'number' ? { number: node.value, source: node.source ?? '' } : node.value
  }
}

const isField = (name: string): name is keyof Fields =>
  name === 'title' || name === 'description' || name === 'position'

/** @returns what is wrong */
function readField(name: keyof Fields, value: unknown, fields: Fields): string | undefined {
  if (value === null || value === undefined) return undefined
  const number = toNumber(value)
  if (name === 'position') {
    if (number !== undefined && Number.isFinite(number.number)) fields.position = number.number
    else return '"position" of the front matter is no number. Annex ignores it. Write one, or remove it.'
    return undefined
  }
  const most = name === 'title' ? maxTitle : maxDescription
  const given = typeof value === 'string' ? value : (number?.source ?? '')
  const text = given.replace(/\s+/g, ' ').trim()
  if (text !== '' && text.length <= most) fields[name] = toVisible(text)
  else {
    const next = text === '' ? 'Put it in quotes, or remove it.' : 'Shorten it.'
    return `"${name}" of the front matter is no text of 1 to ${most} characters. Annex ignores it. ${next}`
  }
  return undefined
}

function toNumber(value: unknown): { number: number; source: string } | undefined {
  const isNumber = typeof value === 'object' && value !== null && 'source' in value && 'number' in value
  return isNumber ? (value as { number: number; source: string }) : undefined
}
