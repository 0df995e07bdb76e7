import { posix } from 'node:path'
import MarkdownIt from 'markdown-it'

const markdownIt = new MarkdownIt({ html: false })
const maxPictures = 20

/** The files that a summary shows as pictures, as the manifest has them. A picture of another host is not among them. */
export function listSummaryPictures(summary: string): string[] {
  const tokens = markdownIt.parse(summary, {}).flatMap(({ children }) => children ?? [])
  const files = tokens.flatMap((token) => {
    const file = token.type === 'image' ? toFilePath(token.attrGet('src')) : undefined
    return file !== undefined && isInside(file) ? [file] : []
  })
  return [...new Set(files)].slice(0, maxPictures)
}

/** `install.md#linux` or `./assets/a.png`, as a file beside the text is named. It is no address of its own. */
export function toFilePath(address: string | number | null): string | undefined {
  if (typeof address !== 'string' || URL.canParse(address) || /^[/\\]{2}|^#|^$/.test(address))
    return undefined
  try {
    const path = decodeURIComponent(address.replace(/[?#].*$/s, ''))
    return path === '' || /[\\\0]/.test(path) ? undefined : path.slice(0, 1_000)
  } catch {
    return undefined
  }
}

/** Attack: `../../../x/evil` as a picture sends a request of the reader to another address of Annex. */
const isInside = (path: string): boolean => !/^\.?\.?\/|^\.\.$/.test(posix.normalize(path))
