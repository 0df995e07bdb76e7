import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping'

const maxStackLength = 16 * 1024

/**
 * Turns the places in a stack from an isolate (`annex:<integration>:line:column`) into the author's: file, line and
 * column. Places that the map does not know stay as they are.
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
  const place = /annex:([A-Za-z0-9-]{1,100}):(\d{1,9}):(\d{1,9})/g
  if (!place.test(cut)) return cut
  const trace = typeof map === 'string' ? new TraceMap(map) : map
  return cut.replace(place, (whole, name, line, column) => {
    if (name !== integration || Number(line) < 1 || Number(column) < 1) return whole
    const found = originalPositionFor(trace, { line: Number(line), column: Number(column) - 1 })
    if (found.source === null) return whole
    const file = found.source.startsWith('@annex/') ? found.source : `${folderName}/${found.source}`
    return `${file}:${found.line}:${found.column + 1}`
  })
}
