import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping'

const maxStackLength = 16 * 1024

/** What the engine calls the code that every isolate starts from. */
const platform = 'platform'

/**
 * Turns the places in a stack from an isolate (`annex:<integration>:line:column`) into the author's: file, line and
 * column. Places that the map does not know stay as they are. Frames of the platform (`annex:platform:…`) are left
 * out: no author has a file for them.
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
  const whole = integration === platform ? stack : withoutPlatform(stack)
  const cut = whole.length > maxStackLength ? `${whole.slice(0, maxStackLength)}\n    …` : whole
  const place = /annex:([A-Za-z0-9-]{1,100}):(\d{1,9}):(\d{1,9})/g
  if (!place.test(cut)) return cut
  const trace = typeof map === 'string' ? new TraceMap(map) : map
  return withoutWrapper(cut, trace, integration).replace(place, (whole, name, line, column) => {
    if (name !== integration || Number(line) < 1 || Number(column) < 1) return whole
    const found = originalPositionFor(trace, { line: Number(line), column: Number(column) - 1 })
    if (found.source === null) return whole
    const file = found.source.startsWith('@annex/') ? found.source : `${folderName}/${found.source}`
    return `${file}:${found.line}:${found.column + 1}`
  })
}

const withoutPlatform = (stack: string): string =>
  stack
    .split('\n')
    .filter((line) => !(line.trimStart().startsWith('at ') && line.includes(`annex:${platform}:`)))
    .join('\n')

/** The call that a bundle is wrapped in stands at its very beginning, and in no file of the author. */
function withoutWrapper(stack: string, trace: TraceMap, integration: string): string {
  if (originalPositionFor(trace, { line: 1, column: 0 }).source !== null) return stack
  const frame = `at annex:${integration}:1:1`
  return stack
    .split('\n')
    .filter((line) => line.trimStart() !== frame)
    .join('\n')
}
