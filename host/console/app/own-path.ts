/**
 * An address of this Annex, as a path of the page's own URL origin. An Annex has several names, as localhost and 127.0.0.1, and
 * the policy of the page loads pictures from its own alone.
 */
export function toOwnPath(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { pathname, search } = new URL(address)
  return pathname + search
}
