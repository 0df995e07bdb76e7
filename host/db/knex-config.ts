import type { Knex } from 'knex'

/** Knex's messages go to the caller of a query alone, and not to the terminal. */
const silent: Knex.Logger = { warn() {}, error() {}, deprecate() {}, debug() {} }

/** What Knex is told for either database. Columns are snake_case, as SQL has them; the code reads and writes camelCase. */
export const knexConfig: Knex.Config = {
  log: silent,
  // An error names its statement, but not the values: these may be secret, and a batch has many.
  compileSqlOnError: false,
  // Knex asks for the name of a constraint that has none, too.
  wrapIdentifier: (name: string | undefined, original) =>
    original((name === undefined ? name : toSnakeCase(name)) as string),
  postProcessResponse: (response) =>
    Array.isArray(response) ? response.map(toCamelCaseRow) : toCamelCaseRow(response),
}

export const toSnakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export function toCamelCaseRow(row: unknown): unknown {
  if (row === null || typeof row !== 'object' || Array.isArray(row)) return row
  const named: Record<string, unknown> = {}
  for (const name in row) named[toCamelCase(name)] = (row as Record<string, unknown>)[name]
  return named
}

/** The tables have a fixed number of columns, so this map does not grow. */
const camelCaseNames = new Map<string, string>()

function toCamelCase(name: string): string {
  let found = camelCaseNames.get(name)
  if (found === undefined) {
    found = name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
    camelCaseNames.set(name, found)
  }
  return found
}
