import { createInterface } from 'node:readline/promises'
import { toVisible } from '../manifest/message-text.ts'
import { formatProblem, type Problem } from '../manifest/problem.ts'
import { findOwnCommand, toPasteable } from './own-command.ts'
import type { Output, Surroundings } from './surroundings.ts'

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const

export type Style = keyof typeof codes

/**
 * A piece of a line. A string and the text of a styled piece are escaped when they are printed. `escaped` holds text
 * that is escaped already, as `formatProblem` returns it.
 */
export type Part = string | { text: string; style: Style } | { escaped: string }

/** Where a command prints and asks. Data goes to stdout, all else to stderr. */
export type Terminal = {
  /** `--json`: commands print JSON instead of text. */
  json: boolean
  /** Whether stdout shows colours. */
  color: boolean
  /** A line of data. */
  print(...parts: Part[]): void
  /** A line about the data: the result, the next step. Its commands can be pasted. */
  say(...parts: Part[]): void
  /** One JSON value, indented. */
  printJson(value: unknown): void
  /** One JSON value on one line: for streams. */
  printJsonLine(value: unknown): void
  /** A text with commands that can be pasted: for `print`. */
  toPasteable(text: string): string
  /**
   * Asks a question.
   *
   * @param fallback taken when the answer is empty
   * @returns `undefined` without a terminal: a flag must answer then
   */
  ask(question: string, fallback: string): Promise<string | undefined>
  /** The exit code of a command that fails without an error. */
  setExitCode(code: number): void
}

type Given = Pick<Surroundings, 'stdout' | 'stderr' | 'env'> & Partial<Surroundings>

/** @param options.color false (`--no-color`): no colours, whatever the terminal can show */
export function createTerminal(
  surroundings: Given,
  options: { json?: boolean; color?: boolean } = {},
): Terminal {
  const { stdout, stderr, env, argv = [] } = surroundings
  const ownCommand = findOwnCommand({ argv, env, cwd: process.cwd() })
  const paste = (text: string) => toPasteable(text, ownCommand)
  const wanted = options.color !== false && !env.NO_COLOR && env.TERM !== 'dumb'
  const hasColor = (stream: Output) => wanted && stream.isTTY === true
  const write = (stream: Output, parts: Part[]) => stream.write(`${renderParts(parts, hasColor(stream))}\n`)
  return {
    json: options.json === true,
    color: hasColor(stdout),
    print: (...parts) => void write(stdout, parts),
    say: (...parts) =>
      void write(
        stderr,
        parts.map((part) => pastePart(part, paste)),
      ),
    printJson: (value) => void stdout.write(`${toSafeJson(value, 2)}\n`),
    printJsonLine: (value) => void stdout.write(`${toSafeJson(value)}\n`),
    toPasteable: paste,
    ask: (question, fallback) => ask(surroundings, question, fallback),
    setExitCode(code) {
      surroundings.exitCode = code
    },
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

function pastePart(part: Part, paste: (text: string) => string): Part {
  if (typeof part === 'string') return paste(part)
  return 'text' in part ? { ...part, text: paste(part.text) } : part
}

export const paint = (style: Style, text: string): Part => ({ text, style })

/**
 * Makes text of unknown source safe for a terminal. Names, bodies and log lines come from plugins, visitors and
 * receivers. An escape sequence in them could rewrite the screen, set the clipboard or forge a line. Line breaks stay.
 */
export const toSafeText = (text: string): string =>
  text
    .split('\n')
    .map((line) => toVisible(line.replace(/\r$/, '').replaceAll('\t', '  ')))
    .join('\n')

/** As `toSafeText`, on one line and cut at `maxLength` characters: for a cell of a table. */
export function toSafeLine(text: string, maxLength = 200): string {
  const chars = [...text]
  return toVisible(chars.length > maxLength ? `${chars.slice(0, maxLength - 1).join('')}…` : text)
}

// JSON.stringify escapes U+0000 to U+001F. Some terminals obey U+0080 to U+009F too: U+009B begins a sequence.
// A bidirectional override makes a terminal show another text than the one printed.
const invisible = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** JSON with each invisible character as `\uXXXX`. A parser reads the same value. */
export const toSafeJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(
    invisible,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export type Cell = string | Exclude<Part, string | { escaped: string }>

/** Prints rows under their heads, columns aligned. Each cell takes one line. */
export function printTable(terminal: Terminal, heads: string[], rows: Cell[][]): void {
  const texts = rows.map((row) => row.map((cell) => toSafeLine(typeof cell === 'string' ? cell : cell.text)))
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...texts.map((row) => row[column]?.length ?? 0)),
  )
  const pad = (text: string, column: number) =>
    column === heads.length - 1 ? text : text.padEnd((widths[column] ?? 0) + 2)
  terminal.print(paint('dim', heads.map(pad).join('')))
  for (const [index, row] of rows.entries()) {
    const parts = row.map((cell, column): Part => {
      const text = pad(texts[index]?.[column] ?? '', column)
      return typeof cell === 'string' ? text : { ...cell, text }
    })
    terminal.print(...parts)
  }
}

const statusStyles: Record<string, 'green' | 'yellow' | 'red'> = {
  active: 'green',
  delivered: 'green',
  done: 'green',
  loaded: 'green',
  pending: 'yellow',
  due: 'yellow',
  waiting: 'yellow',
  running: 'yellow',
  stopped: 'yellow',
  retired: 'yellow',
  paused: 'yellow',
  suspended: 'red',
  failed: 'red',
  disabled: 'red',
}

/** A status or state in its colour. */
export function toStatus(status: string): Cell {
  const style = statusStyles[status]
  return style === undefined ? status : { text: status, style }
}

async function ask(
  { stdin, stderr }: Given,
  question: string,
  fallback: string,
): Promise<string | undefined> {
  if (!stdin?.isTTY || !stderr.isTTY) return undefined
  // On stderr: stdout is for data.
  const prompt = createInterface({ input: stdin, output: stderr as NodeJS.WriteStream })
  try {
    return (await prompt.question(`${question} [${fallback}] `)).trim() || fallback
  } finally {
    prompt.close()
  }
}

/** Asks for yes or no. @returns `undefined` without a terminal */
export async function confirm(terminal: Terminal, question: string): Promise<boolean | undefined> {
  const answer = await terminal.ask(question, 'y/N')
  return answer === undefined ? undefined : /^y(es)?$/i.test(answer)
}

/** Prints problems with their code frames, each followed by an empty line. */
export function printProblems(terminal: Terminal, problems: Problem[]): void {
  for (const given of problems) {
    // Problems also come over HTTP (`annex reload`): their types are not certain.
    const { line, column, frame } = given
    const problem = { ...given, line: Number(line), column: Number(column), frame: toSafeText(frame) }
    terminal.print({ escaped: formatProblem(problem, { color: terminal.color }) })
    terminal.print()
  }
}
