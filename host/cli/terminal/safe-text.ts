import { toVisible } from '../../manifest/problems/visible-text.ts'

/**
 * Text of unknown origin for a terminal. Names, bodies and log lines come from plugins, visitors and receivers:
 * printed as they are, an escape sequence could rewrite the screen, set the clipboard or forge a line. Line
 * breaks stay.
 */
export const toSafeText = (text: string): string =>
  text
    .split('\n')
    .map((line) => toVisible(line.replace(/\r$/, '').replaceAll('\t', '  ')))
    .join('\n')

/** The same on one line, cut at `maxLength` characters: for a cell of a table. */
export function toSafeLine(text: string, maxLength = 200): string {
  const chars = [...text]
  return toVisible(chars.length > maxLength ? `${chars.slice(0, maxLength - 1).join('')}…` : text)
}

// JSON.stringify escapes U+0000 to U+001F. Some terminals obey U+0080 to U+009F too (U+009B begins a sequence),
// and a bidirectional override shows another text than the one that is there.
const invisible = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** JSON with every such character as `\uXXXX`: the same value to whoever parses it. */
export const toSafeJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(
    invisible,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
