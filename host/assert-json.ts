import { AnnexError } from './errors.ts'

/** Neither a list nor null. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** For JSON from outside. Stored records wrap such JSON, so they may be deeper. */
const mostLevels = 64

/**
 * Rejects deeply nested JSON before it is parsed. `JSON.parse` takes any depth, but `JSON.stringify` and schema checks
 * run out of stack later, in answers to other callers.
 *
 * @param what the name of the JSON in the error
 * @throws AnnexError `bad_request` above `maxDepth` levels
 */
export function assertShallow(text: string, what = 'JSON body', maxDepth = mostLevels): void {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at)
    else if (character === '}' || character === ']') depth -= 1
    else if (character === '{' || character === '[') {
      depth += 1
      if (depth > maxDepth) {
        throw new AnnexError('bad_request', `The ${what} is nested more than ${maxDepth} levels deep.`)
      }
    }
  }
}

/** The index of the closing quote, or of the end of the text. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

/** Long digits and large exponents: only such a number may be rounded, or become Infinity, which is stored as null. */
const mayBeRounded = /\d{16}|\de\+?\d{3}/i
const longestShown = 40

/**
 * Rejects whole numbers that `JSON.parse` would round, and numbers that it would read as Infinity. A reviver would see them
 * too, but a body of many short numbers would then block the event loop.
 *
 * @param text valid JSON
 * @throws AnnexError `bad_request`
 */
export function assertExact(text: string): void {
  if (!mayBeRounded.test(text)) return
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === minus || isDigit(code)) {
      const start = at
      while (isOfNumber(text.charCodeAt(at + 1))) at += 1
      if (at - start < shortestRounded) continue
      const written = text.slice(start, at + 1)
      if (!isRounded(written)) continue
      const shown = written.length > longestShown ? `${written.slice(0, longestShown)}…` : written
      throw new AnnexError(
        'bad_request',
        `The number ${shown} would be rounded: send a smaller one, or text where text is taken.`,
      )
    }
  }
}

const [quote, minus] = ['"'.charCodeAt(0), '-'.charCodeAt(0)]
/** 1e309 is the shortest, 4 characters after its first one. */
const shortestRounded = 4
const others = new Set([...'-+.eE'].map((character) => character.charCodeAt(0)))

const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isOfNumber = (code: number): boolean => isDigit(code) || others.has(code)

function isRounded(written: string): boolean {
  const value = Number(written)
  if (Number.isSafeInteger(value)) return false
  if (!Number.isFinite(value)) return true
  return /^-?\d+$/.test(written) && BigInt(written) !== BigInt(value)
}

/**
 * Rejects a text above a size.
 *
 * @param most in bytes
 * @param explain makes the error's message from the size in bytes
 * @throws AnnexError `body_too_large`
 */
export function assertFits(text: string, most: number, explain: (bytes: number) => string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes > most) throw new AnnexError('body_too_large', explain(bytes))
}
