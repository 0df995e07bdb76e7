import { originalPositionFor, sourceContentFor, TraceMap } from '@jridgewell/trace-mapping'
import { createFrame } from '../manifest/code-frame.ts'

/** A hostile stack may have millions of locations. */
const maxStackLength = 16 * 1024

const location = /annex:([A-Za-z0-9-]{1,100}):(\d{1,9}):(\d{1,9})/g

/** Text may follow a frame on its line: in a logged object, for instance. */
const frame =
  /\n[^\S\n]*at (?:async )?(?:[^\n]{1,256}? \()?annex:([A-Za-z0-9-]{1,100}):(\d{1,9}):(\d{1,9})\)?/g

/** Files of the SDK, stand-ins for missing modules, and helpers of the bundler. */
const isGenerated = (source: string | null) =>
  source === null || source.startsWith('@annex/') || source.startsWith('missing:')

/**
 * Turns the locations in a stack of an isolate (`annex:<integration>:line:column`) into file, line and column of the
 * plugin folder. Frames outside the plugin folder are removed. Locations that the map does not contain stay.
 *
 * @param stack hostile text; cut at 16 KiB
 * @param map the bundle's source map, as JSON or parsed
 * @param options.integration locations of other integrations stay
 * @param options.folderName the prefix of files, such as `plugins/echo`
 */
export function mapStack(
  stack: string,
  map: string | TraceMap,
  { integration, folderName }: { integration: string; folderName: string },
): string {
  const cut = stack.length > maxStackLength ? `${stack.slice(0, maxStackLength)}\n    …` : stack
  if (cut.search(location) < 0) return cut
  const trace = typeof map === 'string' ? new TraceMap(map) : map
  const find = (name: string, line: string, column: string) =>
    name === integration && Number(line) > 0 && Number(column) > 0
      ? originalPositionFor(trace, { line: Number(line), column: Number(column) - 1 })
      : undefined
  const authors = cut.replace(frame, (whole, name, line, column) => {
    const found = find(name, line, column)
    return found !== undefined && isGenerated(found.source) ? '' : whole
  })
  return authors.replace(location, (whole, name, line, column) => {
    const found = find(name, line, column)
    if (found === undefined || found.source === null) return whole
    const file = found.source.startsWith('@annex/') ? found.source : `${folderName}/${found.source}`
    return `${file}:${found.line}:${found.column + 1}`
  })
}

/** The innermost location of a hostile stack that is in a file of the plugin folder. */
export function findThrown(
  stack: string,
  map: string,
  integration: string,
): { source: string; line: number; column: number } | undefined {
  const [first] = locationsIn(stack, new TraceMap(map), integration)
  return first
}

/** The numbered lines around the first location of a hostile stack whose source is known, with a caret. */
export function frameOfStack(stack: string, trace: TraceMap, integration: string): string | undefined {
  for (const { source, line, column } of locationsIn(stack, trace, integration)) {
    const text = sourceContentFor(trace, source)
    if (text !== null) return createFrame(text, line, column)
  }
  return undefined
}

function* locationsIn(
  stack: string,
  trace: TraceMap,
  integration: string,
): Generator<{ source: string; line: number; column: number }> {
  for (const [, name, line, column] of stack.slice(0, maxStackLength).matchAll(location)) {
    if (name !== integration || Number(line) < 1 || Number(column) < 1) continue
    const found = originalPositionFor(trace, { line: Number(line), column: Number(column) - 1 })
    if (found.source === null || found.source.startsWith('@annex/')) continue
    yield { source: found.source, line: found.line, column: found.column + 1 }
  }
}
