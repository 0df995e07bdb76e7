import { originalPositionFor, sourceContentFor, type TraceMap } from '@jridgewell/trace-mapping'
import { createFrame } from '../manifest/code-frame.ts'

const place = /annex:([A-Za-z0-9-]{1,100}):(\d{1,9}):(\d{1,9})/g
/** A hostile text may hold places without end that no file has. */
const mostLookedAt = 16 * 1024

/**
 * The lines around the first place in a stack that is the author's own, numbered, with a caret.
 *
 * @param stack text that a hostile script may have made up
 */
export function frameOfStack(stack: string, trace: TraceMap, integration: string): string | undefined {
  for (const [, name, line, column] of stack.slice(0, mostLookedAt).matchAll(place)) {
    if (name !== integration || Number(line) < 1 || Number(column) < 1) continue
    const found = originalPositionFor(trace, { line: Number(line), column: Number(column) - 1 })
    if (found.source === null || found.source.startsWith('@annex/')) continue
    const source = sourceContentFor(trace, found.source)
    if (source !== null) return createFrame(source, found.line, found.column + 1)
  }
  return undefined
}
