/** A query with its `?`, of the entries that are not empty. Empty without any. */
export function toSearch(entries: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(entries).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const text = new URLSearchParams(given).toString()
  return text === '' ? '' : `?${text}`
}
