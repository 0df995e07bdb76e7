import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping'

const maxStackLength = 16 * 1024

const place = /annex:([A-Za-z0-9-]{1,100}):(\d{1,9}):(\d{1,9})/g

/** A frame without what follows it on its line: a logged error may be the start of a line only. */
const frame =
  /\n[^\S\n]*at (?:async )?(?:[^\n]{1,256}? \()?annex:([A-Za-z0-9-]{1,100}):(\d{1,9}):(\d{1,9})\)?/g

/** The SDK, what stands in for a module that is missing, and helpers of the bundler: no file of the author's. */
const isOurs = (source: string | null) =>
  source === null || source.startsWith('@annex/') || source.startsWith('missing:')

/**
 * Turns the places in a stack from an isolate (`annex:<integration>:line:column`) into the author's: file, line and
 * column. Frames that are in no file of the author's are left out. Other places
 * that the map does not know stay as they are.
 *
 * @param stack text that a hostile script may have made up; cut at 16 KiB
 * @param map the bundle's source map, as JSON or parsed
 * @param options.integration name of the integration whose map it is: places of others stay as they are
 * @param options.folderName put before the file, such as `plugins/echo`
 */
export function mapStack(
  stack: string,
  map: string | TraceMap,
  { integration, folderName }: { integration: string; folderName: string },
): string {
  const cut = stack.length > maxStackLength ? `${stack.slice(0, maxStackLength)}\n    …` : stack
  if (cut.search(place) < 0) return cut
  const trace = typeof map === 'string' ? new TraceMap(map) : map
  const find = (name: string, line: string, column: string) =>
    name === integration && Number(line) > 0 && Number(column) > 0
      ? originalPositionFor(trace, { line: Number(line), column: Number(column) - 1 })
      : undefined
  const authors = cut.replace(frame, (whole, name, line, column) => {
    const found = find(name, line, column)
    return found !== undefined && isOurs(found.source) ? '' : whole
  })
  return authors.replace(place, (whole, name, line, column) => {
    const found = find(name, line, column)
    if (found === undefined || found.source === null) return whole
    const file = found.source.startsWith('@annex/') ? found.source : `${folderName}/${found.source}`
    return `${file}:${found.line}:${found.column + 1}`
  })
}

/**
 * The innermost place in a stack from an isolate that is in a file of the plugin folder.
 *
 * @param stack text that a hostile script may have made up
 */
export function findThrown(
  stack: string,
  map: string,
  integration: string,
): { source: string; line: number; column: number } | undefined {
  const trace = new TraceMap(map)
  for (const [, name, line, column] of stack.slice(0, maxStackLength).matchAll(place)) {
    if (name !== integration || Number(line) < 1 || Number(column) < 1) continue
    const found = originalPositionFor(trace, { line: Number(line), column: Number(column) - 1 })
    if (found.source === null || found.source.startsWith('@annex/')) continue
    return { source: found.source, line: found.line, column: found.column + 1 }
  }
  return undefined
}
