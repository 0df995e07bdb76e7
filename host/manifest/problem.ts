import { createFrame } from './code-frame.ts'
import { toVisible } from './message-text.ts'

/** A mistake in a file of a plugin folder. */
export type Problem = {
  severity: 'error' | 'warning'
  file: string
  /** 1-based. */
  line: number
  /** 1-based, in UTF-16 units. */
  column: number
  message: string
  hint?: string
  /** The numbered lines around the mistake, with carets. Empty for a file without text. */
  frame: string
}

/** `line` and `column` as in a problem; `length` is the number of UTF-16 units to mark. */
export type SourceLocation = { line: number; column: number; length?: number }

/** For each file. A file with thousands of mistakes is hostile, or is neither manifest nor script. */
export const maxProblems = 50

/** A location with its frame, for a problem that is found after the file's text is gone. */
export type SourceFrame = Pick<Problem, 'file' | 'line' | 'column' | 'frame'>

/** A mistake without its location. */
export type Complaint = { severity?: Problem['severity']; message: string; hint?: string | undefined }

/** A mistake in a value of the manifest, or in its key, named by JSON pointer (RFC 6901). */
export type Finding = Complaint & {
  pointer: string
  at: 'key' | 'value'
  /** Text was expected: quotes may be missing. */
  wantsText?: boolean
}

export const createProblem = (
  file: string,
  source: string,
  location: SourceLocation,
  complaint: Complaint,
): Problem => problemAt(createSourceFrame(file, source, location), complaint)

export const createSourceFrame = (
  file: string,
  source: string,
  { line, column, length }: SourceLocation,
): SourceFrame => ({
  file,
  line,
  column,
  frame: source === '' ? '' : createFrame(source, line, column, length),
})

export const problemAt = (
  sourceFrame: SourceFrame,
  { severity = 'error', message, hint }: Complaint,
): Problem => ({
  severity,
  ...sourceFrame,
  message,
  ...(hint !== undefined && { hint }),
})

/**
 * A problem as text for a terminal: `file:line:col severity message`, the frame, the hint. Control characters of the
 * plugin folder are escaped.
 */
export function formatProblem(problem: Problem, options: { color: boolean }): string {
  const paint = (code: number, text: string) => (options.color ? `\x1b[${code}m${text}\x1b[39m` : text)
  const location = `${toVisible(problem.file)}:${problem.line}:${problem.column}`
  const severity = paint(problem.severity === 'error' ? 31 : 33, problem.severity)
  const rows = [`${location} ${severity} ${toVisible(problem.message)}`]
  if (problem.frame !== '') {
    rows.push(problem.frame.replace(/^( *\| *)(\^+)$/m, (_, lead, carets) => lead + paint(31, carets)))
  }
  if (problem.hint !== undefined) rows.push(`  ${paint(36, 'hint:')} ${toVisible(problem.hint)}`)
  return rows.join('\n')
}

export const hasErrors = (problems: Problem[]): boolean =>
  problems.some((problem) => problem.severity === 'error')
