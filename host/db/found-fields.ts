import type { Manifest } from '../../schemas/generated/manifest.ts'

/** What lists find an integration by. Columns of its row, so that a search parses no manifest. */
export type FoundFields = {
  /** The search texts of its name, title and description, a line each. */
  searchText: string
  /** JSON. */
  categories: string
}

/** @param manifest of the deployed version, as JSON */
export function toFoundFields(name: string, manifest: string | undefined): FoundFields {
  const { title = '', description = '', categories = [] }: Partial<Manifest> = JSON.parse(manifest ?? '{}')
  return {
    searchText: [name, title, description].map(toSearchText).join('\n'),
    categories: JSON.stringify(categories),
  }
}

/**
 * The form in which texts are searched: without differences of case, of composed characters, or of white space. Both databases
 * compare it byte by byte, so they find the same.
 */
export const toSearchText = (text: string): string =>
  // Capitals: `ß` becomes `SS`, and both forms of a small sigma become one.
  text.normalize('NFKC').toUpperCase().normalize('NFKC').replaceAll(/\s+/g, ' ').trim()
