import { levelOperations } from '../../../../schemas/generated/api/operations.ts'
import { listOperations, type Operation } from '../../../../schemas/list-operations.ts'
import type { OpenApi, Schema } from '../../../../schemas/openapi.ts'

export type Resource = { name: string; description: string; operations: Operation[] }
export type Reference = {
  document: OpenApi
  /** With the forms for a site and a space. */
  operations: Operation[]
  resources: Resource[]
  records: [string, Schema][]
}

/** The forms of an operation for a site and a space are on the page of the account's. */
const otherForms: ReadonlyMap<string, readonly string[]> = new Map(
  Object.values(levelOperations).map(({ account, site, space }) => [account, [site, space]]),
)

export function toReference(document: OpenApi): Reference {
  const shown = new Set([...otherForms.values()].flat())
  const operations = listOperations(document)
  const byTag = Map.groupBy(
    operations.filter(({ id }) => !shown.has(id)),
    ({ tag }) => tag,
  )
  return {
    document,
    operations,
    resources: document.tags.map((tag) => ({ ...tag, operations: byTag.get(tag.name) ?? [] })),
    records: Object.entries(document.components.schemas ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  }
}

/** The operation, and its forms for a site and a space. */
export function formsOf({ operations }: Reference, id: string): Operation[] {
  const ids = [id, ...(otherForms.get(id) ?? [])]
  return operations
    .filter((operation) => ids.includes(operation.id))
    .toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
}

/** Operations and records that have each word of a search in their names, texts or addresses. */
export function searchReference({ resources, records }: Reference, search: string) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const has = (...fields: string[]) => {
    const text = fields.join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  }
  const matches = ({ id, method, path, summary, description }: Operation) =>
    has(id, method, path, summary, description)
  return {
    resources: resources
      .map((one) => ({
        ...one,
        operations: one.operations.filter((operation) => has(one.name) || matches(operation)),
      }))
      .filter(({ operations }) => operations.length > 0),
    records: records.filter(([name]) => has(name)),
  }
}
