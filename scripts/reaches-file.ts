import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Whether a module is `target`, or imports it, itself or through others. A test that does not reach the file which says
 * where PostgreSQL is cannot do anything on it.
 *
 * @param seen what has been looked at for this module already
 */
export function reachesFile(file: string, target: string, seen = new Set<string>()): boolean {
  if (file === target) return true
  if (seen.has(file) || !file.endsWith('.ts') || !existsSync(file)) return false
  seen.add(file)
  const imported = readFileSync(file, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g)
  return [...imported].some(([, path = '']) => reachesFile(resolve(dirname(file), path), target, seen))
}
