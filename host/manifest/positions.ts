import type { Complaint, SourceLocation } from './problem.ts'

/** A range of the manifest's text, as offsets in UTF-16 units. */
export type Span = readonly [start: number, end: number]
export type NodeSpans = { key?: Span; value?: Span }

/** The ranges of each value and its key, by JSON pointer (RFC 6901). */
export type Positions = Map<string, NodeSpans>

/** A complaint about a range of the text. */
export type SpannedComplaint = Complaint & { span: Span }

/** Creates a function that turns a range of a text into line, column and length. */
export function createLocator(source: string): (span: Span) => SourceLocation {
  const starts = [0]
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) starts.push(at + 1)
  return ([start, end]) => {
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= start) low = middle
      else high = middle
    }
    const lineStart = starts[low] ?? 0
    const lineEnd = starts[low + 1] ?? source.length + 1
    const length = Math.max(1, Math.min(end, lineEnd - 1) - start)
    return { line: low + 1, column: start - lineStart + 1, length }
  }
}

/** The range of a pointer's key or value, else that of its nearest parent with a range. */
export function findSpan(positions: Positions, pointer: string, at: 'key' | 'value'): Span {
  for (let current = pointer; ; current = current.slice(0, current.lastIndexOf('/'))) {
    const spans = positions.get(current)
    // A missing field is shown at its map's key: the map may have many lines.
    const wanted =
      at === 'key' || current !== pointer ? (spans?.key ?? spans?.value) : (spans?.value ?? spans?.key)
    if (wanted !== undefined) return wanted
    if (current === '') return [0, 1]
  }
}

/** One step of a JSON pointer. */
export const toPointerStep = (key: string | number): string =>
  `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`

export const fromPointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
