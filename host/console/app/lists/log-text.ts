/** A line of a log: its message, and the positions below it, of which the first is where the author's code made it. */
export type LogText = { message: string; where?: string; trace: string }

/** A script may log a line of any length: no position is so long. */
const longestFrame = 1_000

export function toLogText(text: string): LogText {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => positionOf(line) !== undefined)
  const where = positionOf(lines[first] ?? '')
  if (where === undefined) return { message: text, trace: '' }
  return { message: lines.slice(0, first).join('\n'), where, trace: lines.slice(first).join('\n') }
}

/** The `file:line:column` of a line such as `    at send (plugins/webhook/index.ts:12:3)`. */
function positionOf(line: string): string | undefined {
  if (line.length > longestFrame || !/^\s+at /.test(line)) return undefined
  const frame = line.trim().slice('at '.length)
  const position = frame.endsWith(')') ? frame.slice(frame.indexOf(' (') + ' ('.length, -1) : frame
  return /:\d+:\d+$/.test(position) ? position : undefined
}
