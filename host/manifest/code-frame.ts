import { toVisible } from './message-text.ts'

const maxColumns = 100
const linesBefore = 2
const linesAfter = 1

/**
 * The numbered lines around a location, with carets below it. Safe to print: control characters are escaped, and long
 * lines are cut around the caret.
 *
 * @param line 1-based
 * @param column 1-based, in UTF-16 units
 * @param length the number of units to mark, within the line
 */
export function createFrame(source: string, line: number, column: number, length = 1): string {
  const lines = source.split('\n', line + linesAfter)
  const first = Math.max(1, line - linesBefore)
  const gutter = String(Math.min(lines.length, line + linesAfter)).length + 2
  const rows: string[] = []
  for (let number = first; number <= Math.min(lines.length, line + linesAfter); number++) {
    const text = (lines[number - 1] ?? '').replace(/\r$/, '')
    if (number !== line) {
      // The text after the last line break is no line.
      if (text === '' && number === lines.length && number > line) continue
      rows.push(`${String(number).padStart(gutter)} | ${cutLine(text, 0).text}`.trimEnd())
      continue
    }
    const cut = cutLine(text, column - 1)
    const before = cut.text.slice(0, cut.caret)
    const marked = toColumns(text.slice(column - 1, column - 1 + Math.min(length, maxColumns)))
    const carets = Math.max(1, Math.min(widthOf(marked), maxColumns - widthOf(before)))
    rows.push(`${String(number).padStart(gutter)} | ${cut.text}`.trimEnd())
    rows.push(`${' '.repeat(gutter)} | ${' '.repeat(widthOf(before))}${'^'.repeat(carets)}`)
  }
  return rows.join('\n')
}

/** The part of a line that fits. `caret` is the index in it of the unit at `at`. */
function cutLine(line: string, at: number): { text: string; caret: number } {
  const start = at > maxColumns - 20 ? at - maxColumns / 2 : 0
  const lead = start > 0 ? '…' : ''
  const before = lead + toColumns(line.slice(start, at))
  const after = toColumns(line.slice(at, start + maxColumns))
  const tail = line.length > start + maxColumns ? '…' : ''
  return { text: before + after + tail, caret: before.length }
}

const toColumns = (text: string): string => toVisible(text.replaceAll('\t', '  '))

/** Terminal columns, approximately: wide characters and emoji take two, combining marks none. */
function widthOf(text: string): number {
  let width = 0
  for (const char of text) {
    if (/\p{Mn}/u.test(char)) continue
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
        char,
      )
        ? 2
        : 1
  }
  return width
}
