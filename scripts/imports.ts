import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** `values`: without `import type`, which is gone when the code runs. */
export type Imports = 'all' | 'values'

const all = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g
const values = /^(?:import|export) (?!type\b)(?:[^'"=()]*? from )?'(\.[^']+)'/gm

/** The modules that these modules import, themselves or through others, and the modules themselves. */
export function findImported(files: readonly string[], which: Imports): Set<string> {
  const found = new Set(files)
  for (const file of found) {
    if (!file.endsWith('.ts') || !existsSync(file)) continue
    const imported = readFileSync(file, 'utf8').matchAll(which === 'all' ? all : values)
    for (const [, path = ''] of imported) found.add(resolve(dirname(file), path))
  }
  return found
}
