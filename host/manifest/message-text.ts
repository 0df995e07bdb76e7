// Control characters, bidirectional overrides, invisible characters and lone surrogates. A manifest is hostile:
// printed as it is, an escape sequence could rewrite the reader's terminal, and a bidirectional override could
// show another text than the one that counts.
const invisible =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu

/** The text with every character that a terminal would act on, or not show, written as an escape. */
export const toVisible = (text: string): string => text.replace(invisible, toEscape)

/** A short, quoted form of a value of unknown content and size, for use in a message. */
export function quoteValue(value: unknown, maxLength = 60): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value !== 'string') return String(value)
  const shown = value.length > maxLength ? `${value.slice(0, maxLength)}…` : value
  return `"${toVisible(shown)}"`
}

function toEscape(char: string): string {
  const code = char.codePointAt(0) ?? 0
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`
  return `\\u{${code.toString(16).padStart(4, '0')}}`
}
