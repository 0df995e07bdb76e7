import { createFrame } from './code-frame.ts'
import { toVisible } from './message-text.ts'

/** Something wrong in a file of a plugin folder, and where. */
export type Problem = {
  severity: 'error' | 'warning'
  file: string
  /** 1-based. */
  line: number
  /** 1-based, in UTF-16 units. */
  column: number
  message: string
  hint?: string
  /** The lines around the place, numbered, with a caret. Empty where the file has no text to show. */
  frame: string
}

/** Where a problem is: `length` is how many UTF-16 units to mark. */
export type Place = { line: number; column: number; length?: number }

/** Of one file: with ten thousand mistakes it is hostile, or no manifest and no script. */
export const maxProblems = 50

/** A place of a file that may turn out to be wrong later, when its text is no longer there. */
export type Spot = Pick<Problem, 'file' | 'line' | 'column' | 'frame'>

/** What is wrong, before it has a place. */
export type Complaint = { severity?: Problem['severity']; message: string; hint?: string | undefined }

/** Gives a complaint its place in a source and the frame that shows it. */
export const createProblem = (file: string, source: string, place: Place, complaint: Complaint): Problem =>
  problemAt(createSpot(file, source, place), complaint)

export const createSpot = (file: string, source: string, { line, column, length }: Place): Spot => ({
  file,
  line,
  column,
  frame: source === '' ? '' : createFrame(source, line, column, length),
})

export const problemAt = (spot: Spot, { severity = 'error', message, hint }: Complaint): Problem => ({
  severity,
  ...spot,
  message,
  ...(hint !== undefined && { hint }),
})

/**
 * One problem as text for a terminal: `file:line:col severity message`, the frame, the hint. No line break at
 * the end. Nothing of a plugin folder reaches the terminal without its control characters being escaped.
 */
export function formatProblem(problem: Problem, options: { color: boolean }): string {
  const paint = (code: number, text: string) => (options.color ? `\x1b[${code}m${text}\x1b[39m` : text)
  const place = `${toVisible(problem.file)}:${problem.line}:${problem.column}`
  const severity = paint(problem.severity === 'error' ? 31 : 33, problem.severity)
  const rows = [`${place} ${severity} ${toVisible(problem.message)}`]
  if (problem.frame !== '') {
    rows.push(problem.frame.replace(/^( *\| *)(\^+)$/m, (_, lead, carets) => lead + paint(31, carets)))
  }
  if (problem.hint !== undefined) rows.push(`  ${paint(36, 'hint:')} ${toVisible(problem.hint)}`)
  return rows.join('\n')
}

export const hasErrors = (problems: Problem[]): boolean =>
  problems.some((problem) => problem.severity === 'error')
