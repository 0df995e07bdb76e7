import { AnnexError } from './annex-error.ts'

/** Of what is taken in. What is kept has it within records of ours, and may be deeper. */
const mostLevels = 64

/**
 * Refuses JSON that is nested too deep, before it is parsed. `JSON.parse` takes any depth, but what walks the value
 * later (`JSON.stringify`, a schema check) runs out of stack, in answers to other people.
 *
 * @param what is told who brings it
 * @throws AnnexError `bad_request` over so many levels
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
export function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
