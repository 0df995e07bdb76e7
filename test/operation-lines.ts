import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadApi } from '../schemas/api.ts'
import { levelOperations } from '../schemas/generated/api/operations.ts'
import type { OperationObject, Schema } from '../schemas/openapi.ts'

/**
 * `node test/operation-lines.ts`: the lines that are written by hand for each operation, most first, and their median. An
 * operation of levels counts once. Lines of several operations are shared: a record by those that have it, a file of host/api by
 * those that it handles. A file of host/cli counts less for an operation that many commands call.
 */
type Lines = { schema: number; api: number; cli: number; row: number }
export type OperationLines = Lines & { address: string; total: number }

/** The aim for the lines of an operation. */
export const most = 90

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string): string[] => readFileSync(`${root}${path}`, 'utf8').trimEnd().split('\n')
const list = (pattern: string): string[] => globSync(pattern, { cwd: root }).toSorted()

export function countOperationLines(): { operations: OperationLines[]; shared: Lines } {
  const { document, operations } = loadApi()
  const accountOf = new Map(
    Object.values(levelOperations).flatMap(({ account, site, space }) => [
      [site, account],
      [space, account],
    ]),
  )
  const written = operations.filter(({ id }) => !accountOf.has(id as never))
  const idOf = (id: string): string => accountOf.get(id as never) ?? id
  const counts = new Map(written.map(({ id }) => [id, { schema: 0, api: 0, cli: 0, row: 0 }]))
  const shared: Lines = { schema: 0, api: 0, cli: 0, row: 0 }

  /** Shares lines by weights. Without an operation they are lines of all. */
  const add = (kind: keyof Lines, lines: number, weights: ReadonlyMap<string, number>) => {
    const sum = [...weights.values()].reduce((total, weight) => total + weight, 0)
    if (sum === 0) shared[kind] += lines
    for (const [id, weight] of weights) {
      const count = counts.get(id)
      if (count !== undefined) count[kind] += (lines * weight) / sum
    }
  }
  const evenly = (ids: Iterable<string>) => new Map([...ids].map((id) => [idOf(id), 1]))

  const findNamed = (text: string) =>
    operations.filter(
      ({ id, method, path }) => text.includes(`'${id}'`) || text.includes(`'${method} ${path}'`),
    )

  const usersOf = findUsers(document.paths, document.components)
  for (const file of list('schemas/api/*.schema.json')) {
    for (const { section, name, lines } of toEntries(read(file))) {
      const [method = '', path = ''] = name.split(' ')
      const id = document.paths[path]?.[method.toLowerCase()]?.operationId
      add(
        'schema',
        lines,
        evenly(section === 'operations' && id !== undefined ? [id] : (usersOf.get(name) ?? [])),
      )
    }
  }
  for (const file of list('host/api/*.ts')) {
    const text = read(file).join('\n')
    // Middleware names single operations, too: it registers none.
    add('api', read(file).length, evenly(/\bon\(/.test(text) ? findNamed(text).map(({ id }) => id) : []))
  }
  const commands = list('host/cli/*.ts').filter((file) => !file.includes('/demo'))
  const calls = new Map(commands.map((file) => [file, findNamed(read(file).join('\n')).map(({ id }) => id)]))
  const callers = Map.groupBy(
    [...calls.values()].flatMap((ids) => [...new Set(ids)]),
    (id) => id,
  )
  for (const [file, ids] of calls) {
    add('cli', read(file).length, new Map(ids.map((id) => [id, 1 / (callers.get(id)?.length ?? 1)])))
  }
  for (const { id, lines } of toRows(read('test/security/matrix/rows.ts'))) add('row', lines, evenly([id]))

  const all = written.map(({ id, method, path }) => {
    const { schema = 0, api = 0, cli = 0, row = 0 } = counts.get(id) ?? {}
    return { address: `${method} ${path}`, schema, api, cli, row, total: schema + api + cli + row }
  })
  return { operations: all.toSorted((a, b) => b.total - a.total), shared }
}

/** The entries of the sections of a file of schemas/api. Lines beside them have the name of none. */
function toEntries(text: readonly string[]): { section: string; name: string; lines: number }[] {
  let section = ''
  const entries = [{ section, name: '', lines: 0 }]
  for (const line of text) {
    const [, head] = /^ {2}"([^"]+)": \{$/.exec(line) ?? []
    if (head !== undefined) section = head
    const [, name] = /^ {4}"([^"]+)": /.exec(line) ?? []
    if (name !== undefined) entries.push({ section, name, lines: 0 })
    const entry = /^ {4}/.test(line) && section !== '' ? entries.at(-1) : entries[0]
    if (entry !== undefined) entry.lines += 1
  }
  return entries
}

/** The operations that have a component, directly or in another one, by its name. */
function findUsers(
  paths: Record<string, Record<string, OperationObject>>,
  components: Record<string, Record<string, Schema>>,
): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>()
  const visit = (value: unknown, id: string): void => {
    if (typeof value !== 'object' || value === null) return
    for (const inner of Object.values(value)) visit(inner, id)
    const { $ref } = value as { $ref?: unknown }
    if (typeof $ref !== 'string') return
    const [, , section = '', name = ''] = $ref.split('/')
    const ids = users.get(name) ?? new Set()
    if (ids.has(id)) return
    users.set(name, ids.add(id))
    visit(components[section]?.[name], id)
  }
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
    visit(operation, operation.operationId)
  }
  return users
}

function toRows(text: readonly string[]): { id: string; lines: number }[] {
  const rows: { id: string; lines: number }[] = []
  for (const line of text.slice(text.findIndex((start) => start.includes('const rows')) + 1)) {
    const [, name] = /^ {2}(\w+):/.exec(line) ?? []
    if (name !== undefined) rows.push({ id: name, lines: 0 })
    const row = rows.at(-1)
    if (row !== undefined && /^ {2}/.test(line)) row.lines += 1
  }
  return rows
}

export function summarize(operations: readonly OperationLines[]): { median: number; mean: number } {
  const sum = operations.reduce((all, { total }) => all + total, 0)
  return { median: operations[Math.floor(operations.length / 2)]?.total ?? 0, mean: sum / operations.length }
}

if (import.meta.main) {
  const { operations, shared } = countOperationLines()
  const toLine = ({ total, schema, api, cli, row }: Omit<OperationLines, 'address'>) =>
    [total, schema, api, cli, row].map((lines) => lines.toFixed(0).padStart(6)).join('')
  console.log('  total schema   api   cli   row')
  for (const { address, ...lines } of operations) console.log(`${toLine(lines)}  ${address}`)
  console.log(`${toLine({ total: 0, ...shared })}  shared by all operations`)
  const { median, mean } = summarize(operations)
  const above = operations.filter(({ total }) => total > most).length
  console.log(
    `${operations.length} operations: median ${median.toFixed(0)}, mean ${mean.toFixed(0)} lines; ${above} above ${most}`,
  )
}
