import { join } from 'node:path'
import type { Bundle } from '../bundle/bundle-script.ts'
import { ownSourcesOf, type Source } from '../bundle/own-sources.ts'
import { hintForName, quoteValue } from '../manifest/message-text.ts'
import { createProblem, maxProblems, type Problem, problemAt } from '../manifest/problem.ts'
import type { IdKind, NamedId } from '../manifest/read-manifest.ts'

/** The ids that a script gives to the components and content sources of `createIntegration`. */
export type DefinedIds = Record<IdKind, string[]>

const maxUnnamed = 20
const words = { component: 'component', contentSource: 'content source' } as const
/** The properties that have the ids in a script. */
const properties = { component: 'componentId', contentSource: 'sourceId' } as const

/**
 * Compares the ids of a manifest with those of its script: warnings for each id that only one of the two has. A component
 * that the script itself names elsewhere, as to open it, needs no name in the manifest.
 */
export function compareIds(
  named: readonly NamedId[],
  defined: DefinedIds,
  { folder, script, bundle }: { folder: string; script: string; bundle: Bundle },
): Problem[] {
  const missing = named.filter(({ kind, id }) => !defined[kind].includes(id))
  const inManifest = missing.map(({ kind, field, id, frame }) =>
    problemAt(frame, {
      severity: 'warning',
      message: `${field} names ${quoteValue(id)}, and the script defines no ${words[kind]} of this id`,
      hint: hintForName(id, defined[kind], 'it defines'),
    }),
  )
  const sources = ownSourcesOf(bundle, script)
  const inScript = (['component', 'contentSource'] as const).flatMap((kind) => {
    const ids = named.filter((one) => one.kind === kind).map(({ id }) => id)
    // A script can define any number, and each is searched in the sources.
    const unnamed = [...new Set(defined[kind])].filter((id) => !ids.includes(id)).slice(0, maxUnnamed)
    return unnamed.flatMap((id) => {
      const [first, another] = findId(sources, kind, id)
      if (another !== undefined) return []
      const { path, text, line, column } = first ?? { path: script, text: '', line: 1, column: 1 }
      const location = { line, column, ...(first && { length: id.length + 2 }) }
      return createProblem(join(folder, path), text, location, {
        severity: 'warning',
        message: `the script defines the ${words[kind]} ${quoteValue(id)}, and the manifest does not name it`,
        hint: hintForName(id, ids, 'it names'),
      })
    })
  })
  return [...inManifest, ...inScript].slice(0, maxProblems)
}

type Occurrence = Source & { line: number; column: number }

/** The occurrences of an id as a literal. That of its definition comes first. */
const findId = (sources: readonly Source[], kind: IdKind, id: string): Occurrence[] =>
  sources
    .flatMap((source) =>
      [`'${id}'`, `"${id}"`, `\`${id}\``].flatMap((literal) => occurrencesOf(source, literal, kind)),
    )
    .sort((one, other) => Number(other.isDefinition) - Number(one.isDefinition))

function occurrencesOf({ path, text }: Source, literal: string, kind: IdKind) {
  const found: (Occurrence & { isDefinition: boolean })[] = []
  for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + 1)) {
    const before = text.slice(0, at)
    const line = before.split('\n').length
    const isDefinition = new RegExp(`\\b${properties[kind]}\\s*:\\s*$`).test(before.slice(-60))
    found.push({ path, text, line, column: at - before.lastIndexOf('\n'), isDefinition })
    if (found.length === 2) break
  }
  return found
}
