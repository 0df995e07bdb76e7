import { toSafeJson, toSafeText } from './terminal/safe-text.ts'

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const

export type Style = keyof typeof codes

/**
 * A piece of a line. A string, and the text of a styled piece, is escaped on its way out; `escaped` was already
 * (a code frame, by `formatProblem`).
 */
export type Part = string | { text: string; style: Style } | { escaped: string }

type Stream = Pick<NodeJS.WriteStream, 'write'> & { isTTY?: boolean }

/** Where a command prints. Data goes to stdout, all else to stderr. */
export type Terminal = {
  /** Whether the caller wants JSON instead of text. */
  json: boolean
  /** Whether stdout shows colours. */
  color: boolean
  /** A line of data. */
  print(...parts: Part[]): void
  /** A line about the data: what was done, what to do next. */
  say(...parts: Part[]): void
  /** One JSON value, for people to read too. */
  printJson(value: unknown): void
  /** One JSON value on a line of its own: for streams. */
  printJsonLine(value: unknown): void
}

/** @param options.color false: none, whatever the terminal can do (`--no-color`) */
export function createTerminal(
  streams: { stdout: Stream; stderr: Stream; env: NodeJS.ProcessEnv },
  options: { json?: boolean; color?: boolean } = {},
): Terminal {
  const { stdout, stderr, env } = streams
  const wanted = options.color !== false && !env.NO_COLOR && env.TERM !== 'dumb'
  const hasColor = (stream: Stream) => wanted && stream.isTTY === true
  const write = (stream: Stream, parts: Part[]) => stream.write(`${renderParts(parts, hasColor(stream))}\n`)
  return {
    json: options.json === true,
    color: hasColor(stdout),
    print: (...parts) => void write(stdout, parts),
    say: (...parts) => void write(stderr, parts),
    printJson: (value) => void stdout.write(`${toSafeJson(value, 2)}\n`),
    printJsonLine: (value) => void stdout.write(`${toSafeJson(value)}\n`),
  }
}

function renderParts(parts: Part[], color: boolean): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return toSafeText(part)
      if ('escaped' in part) return part.escaped
      const text = toSafeText(part.text)
      return color ? `\x1b[${codes[part.style]}m${text}\x1b[0m` : text
    })
    .join('')
}

/** A styled piece of a line. */
export const paint = (style: Style, text: string): Part => ({ text, style })
