import { AnnexError } from './annex-error.ts'
import { endOfString } from './json-depth.ts'

/** Long digits and large exponents: only such a number may be rounded, or become Infinity, which is stored as null. */
const mayBeRounded = /\d{16}|\de\+?\d{3}/i
const longestShown = 40

/**
 * Refuses a whole number that `JSON.parse` would round, and one that it would take for Infinity. A reviver sees them too, but
 * a body of many short numbers would then stop the event loop.
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
