import { isJsonObject } from '../assert-json.ts'
import { toMarkdownTree } from './markdown-tree.ts'
import { pictureAddresses } from './place-pictures.ts'

type Fields = Record<string, unknown>

/** A hostile text of this length takes some milliseconds. */
const maxMarkdown = 16_384

/**
 * The addresses of pictures in an element tree: those of `image` elements, and of Markdown. A reference to the state stands for
 * its value in this answer of the script, or for the initial value of its field.
 *
 * Attack: a page that asks for an address of its own makes the host fetch what the script has never named.
 */
export function elementPictures(tree: unknown, state: Fields): string[] {
  const values = new Map(Object.entries(state))
  const sources: unknown[] = []
  const texts: unknown[] = []
  visit(tree, (element) => {
    const { type, source, content, state: name, initialValue } = element
    if (typeof name === 'string' && initialValue !== undefined && !values.has(name)) {
      values.set(name, initialValue)
    }
    if (type === 'image' && isJsonObject(source)) sources.push(source.url)
    if (type === 'markdown') texts.push(content)
  })
  const toText = (value: unknown): string[] => {
    const bound = isJsonObject(value) && typeof value.$state === 'string' ? values.get(value.$state) : value
    return typeof bound === 'string' ? [bound] : []
  }
  let left = maxMarkdown
  const written = texts.flatMap(toText).flatMap((text) => {
    if (!text.includes('![')) return []
    left -= text.length
    return left < 0 ? [] : [...pictureAddresses(toMarkdownTree(text))]
  })
  return [...sources.flatMap(toText), ...written]
}

function visit(value: unknown, see: (element: Fields) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (isJsonObject(value)) see(value)
  for (const one of Object.values(value)) visit(one, see)
}
