const maxNameLength = 100

/**
 * Name and arguments of a call as `bridge.ts` says it is posted. The process reads those that it answers itself, the
 * host all others.
 *
 * @returns undefined when the text is none that our prelude posts
 */
export function parseCall(text: string): { name: string; args: unknown } | undefined {
  const end = text.indexOf('\n')
  if (end < 1 || end > maxNameLength) return undefined
  try {
    return { name: text.slice(0, end), args: JSON.parse(text.slice(end + 1)) }
  } catch {
    return undefined
  }
}
