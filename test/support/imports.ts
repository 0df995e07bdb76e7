import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** `to`: a path for a module of this tree, else the name of a package. `isLater`: imported when the code asks for it. */
export type Import = { from: string; to: string; isType: boolean; isLater: boolean }

const statement =
  /^(?:import|export)(?<type>\s+type)?\s+(?:[\w*{][^'"=()]*?from\s+)?'(?<path>[^']+)'|\bimport\('(?<later>[^']+)'\)/gm

/** What the text of the module `from` imports. */
export function parseImports(text: string, from: string): Import[] {
  return [...text.matchAll(statement)].map(({ groups: { type, path, later } = {} }) => {
    const named = path ?? later ?? ''
    const to = named.startsWith('.') ? join(dirname(from), named) : named
    return { from, to, isType: type !== undefined, isLater: later !== undefined }
  })
}

/** The modules that these modules import, themselves or through others, and the modules themselves. */
export function findImported(
  files: readonly string[],
  isFollowed: (one: Import) => boolean = () => true,
): Set<string> {
  const found = new Set(files)
  for (const file of found) {
    if (!file.endsWith('.ts') || !existsSync(file)) continue
    for (const one of parseImports(readFileSync(file, 'utf8'), file)) if (isFollowed(one)) found.add(one.to)
  }
  return found
}
