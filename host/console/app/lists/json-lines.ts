/** What is wrong with a JSON text, with the line where it is. */
export type JsonFault = { line?: number; message: string }

/** @returns the value, or the fault of a text that is no JSON. Browsers do not always say where it is */
export function parseJson(text: string): { value: unknown } | { fault: JsonFault } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { fault: { message, line: scan(text).line } }
  }
}

/** The line of each value of a JSON text, by its JSON pointer. A value in an object has the line of its name. */
export const linesOf = (text: string): ReadonlyMap<string, number> => scan(text).lines

/** The line of a pointer, else that of the nearest value above it. */
export function lineOf(lines: ReadonlyMap<string, number>, pointer: string): number | undefined {
  for (let place = pointer; ; place = place.slice(0, place.lastIndexOf('/'))) {
    const line = lines.get(place)
    if (line !== undefined || place === '') return line
  }
}

const fault = Symbol('fault')

/** `line`: where the scan ended, at the end of the text or at its first fault. */
function scan(text: string): { lines: Map<string, number>; line: number } {
  const lines = new Map<string, number>()
  let at = 0
  let line = 1
  try {
    readValue('')
    skipSpace()
  } catch (error) {
    if (error !== fault) throw error
  }
  return { lines, line }

  function readValue(pointer: string): void {
    skipSpace()
    if (!lines.has(pointer)) lines.set(pointer, line)
    if (text[at] === '{') return readAll('}', () => readMember(pointer))
    if (text[at] === '[') return readAll(']', (index) => readValue(`${pointer}/${index}`))
    const start = at
    if (text[at] === '"') skipText()
    else while (at < text.length && !/[\s,\]}]/.test(text[at] ?? '')) at += 1
    parsePart(start)
  }

  function readMember(pointer: string): void {
    const start = at
    const ownLine = line
    if (text[at] !== '"') throw fault
    skipText()
    const own = `${pointer}/${toPart(String(parsePart(start)))}`
    lines.set(own, ownLine)
    skipSpace()
    take(':')
    readValue(own)
  }

  function readAll(end: string, read: (index: number) => void): void {
    at += 1
    skipSpace()
    for (let index = 0; text[at] !== end; index += 1) {
      if (index > 0) take(',')
      skipSpace()
      read(index)
      skipSpace()
    }
    at += 1
  }

  function skipText(): void {
    for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1
    at += 1
  }

  function parsePart(start: number): unknown {
    try {
      return JSON.parse(text.slice(start, at))
    } catch {
      throw fault
    }
  }

  function take(sign: string): void {
    if (text[at] !== sign) throw fault
    at += 1
  }

  function skipSpace(): void {
    for (; at < text.length && /[ \t\r\n]/.test(text[at] ?? ''); at += 1) if (text[at] === '\n') line += 1
  }
}

const toPart = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
