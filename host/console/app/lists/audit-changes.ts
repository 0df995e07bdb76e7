/** A value that a change concerns, by its place in the record. A side is undefined where it was not there. */
export type Change = { path: string; before: string | undefined; after: string | undefined }

type Values = { readonly [name: string]: unknown } | null

/**
 * What differs between a record before and after a change. What is the same on both sides is left out, and so are fields of
 * the record that the change does not name.
 */
export function toChanges(before: Values, after: Values): Change[] {
  const isNamed = ([name]: [string, unknown]) => after === null || Object.hasOwn(after, name)
  const left = new Map(flatten(Object.fromEntries(Object.entries(before ?? {}).filter(isNamed))))
  const right = new Map(flatten(after))
  const paths = [...new Set([...left.keys(), ...right.keys()])]
  return paths
    .map((path) => ({ path, before: left.get(path), after: right.get(path) }))
    .filter((change) => change.before !== change.after)
}

/** An object is a place of values, and a list is one value. */
function* flatten(value: unknown, path = ''): Generator<[string, string]> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    if (path !== '') yield [path, typeof value === 'string' ? value : JSON.stringify(value)]
    return
  }
  const entries = Object.entries(value)
  if (entries.length === 0 && path !== '') yield [path, '{}']
  for (const [name, one] of entries) yield* flatten(one, path === '' ? name : `${path}.${name}`)
}
