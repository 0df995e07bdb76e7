import type { Manifest } from '../../../schemas/generated/manifest.ts'
import { fromPointer } from '../positions.ts'
import type { Finding } from '../problem.ts'

/**
 * Keeps the parts of a manifest that match the schema. The checks beyond the schema run on them, so that all errors
 * are shown at once. An invalid entry of a list becomes a hole, and the others keep their index: read lists with
 * `forEach`, which skips holes. An invalid entry of a map becomes `undefined`.
 */
export function keepValidParts(data: unknown, findings: Finding[]): Partial<Manifest> {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return {}
  const kept = structuredClone(data)
  for (const finding of findings) remove(kept, toUnit(finding))
  return kept
}

/** The path of the smallest part that can be removed without making the rest invalid. */
function toUnit({ pointer, at }: Finding): string[] {
  const steps = fromPointer(pointer)
  const [field, , kind] = steps
  // Only the unknown or forbidden key is removed.
  if (at === 'key' && steps.length > 0 && field !== 'configurations') return steps.slice(0, 2)
  if (field === 'configurations') {
    if (kind === 'properties' && steps.length >= 4) return steps.slice(0, 4)
    return steps.slice(0, kind === undefined ? 2 : 3)
  }
  return steps.slice(0, 2)
}

function remove(root: object, steps: string[]): void {
  const last = steps.at(-1)
  let at: unknown = root
  for (const step of steps.slice(0, -1)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return
    at = (at as Record<string, unknown>)[step]
  }
  if (last === undefined || typeof at !== 'object' || at === null) return
  if (Array.isArray(at)) delete at[Number(last)]
  else (at as Record<string, unknown>)[last] = undefined
}
