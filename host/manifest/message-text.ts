import { closestMatch } from 'leven'

// Control characters, bidirectional overrides, invisible characters and lone surrogates. In a hostile manifest, an
// escape sequence rewrites the reader's terminal, and a bidirectional override shows another text than the real one.
const invisible =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu

/** The text with control and invisible characters escaped. */
export const toVisible = (text: string): string => text.replace(invisible, toEscape)

/** A short, quoted form of a hostile value, for messages. */
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

/** The known name that is nearest to a misspelt one. About a third of the characters may differ; case and separators are ignored. */
export function findNearestName(wrong: string, known: readonly string[]): string | undefined {
  // The work grows with both lengths: a hostile name is long.
  if (wrong.length > 64) return undefined
  const plain = (name: string) => name.toLowerCase().replace(/[-_\s]/g, '')
  const byPlain = new Map(known.map((name) => [plain(name), name]))
  // Two letters swapped are two edits.
  const maxDistance = wrong.length < 4 ? 1 : Math.max(2, Math.floor(wrong.length / 3))
  const nearest = closestMatch(plain(wrong), [...byPlain.keys()], { maxDistance })
  return nearest === undefined ? undefined : byPlain.get(nearest)
}

/** A hint for a wrong name: the nearest known name, then all allowed ones. */
export function hintForName(wrong: string, known: readonly string[], kind = 'allowed'): string {
  const nearest = findNearestName(wrong, known)
  return `${nearest === undefined ? '' : `did you mean "${nearest}"? `}${listNames(known, kind)}`
}

export function listNames(known: readonly string[], kind = 'allowed'): string {
  const listed = known.length > 20 ? `${known.slice(0, 20).join(', ')}, …` : known.join(', ')
  return `${kind}: ${listed || 'none'}`
}
