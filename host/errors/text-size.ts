import { AnnexError } from './annex-error.ts'

/**
 * Refuses a text that is too long.
 *
 * @param most in bytes
 * @param explain what is told who brings it, from how many bytes it has
 * @throws AnnexError `body_too_large`
 */
export function assertFits(text: string, most: number, explain: (bytes: number) => string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes > most) throw new AnnexError('body_too_large', explain(bytes))
}
