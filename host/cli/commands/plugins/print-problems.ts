import { formatProblem, type Problem } from '../../../manifest/problems/problem.ts'
import { toSafeText } from '../../terminal/safe-text.ts'
import { paint, type Terminal } from '../../terminal.ts'

/** Prints each problem with its code frame, an empty line between them. */
export function printProblems(terminal: Terminal, problems: Problem[]): void {
  for (const given of problems) {
    // Problems come over HTTP too (`annex reload`): nothing of them is sure.
    const { line, column, frame } = given
    const problem = { ...given, line: Number(line), column: Number(column), frame: toSafeText(frame) }
    terminal.print({ escaped: formatProblem(problem, { color: terminal.color }) })
    terminal.print()
  }
}

/** `3 errors and 1 warning in 2 plugin folders`, on stderr. */
export function sayCounts(terminal: Terminal, problems: Problem[], folders: number): void {
  const errors = problems.filter(({ severity }) => severity === 'error').length
  const text = `${count(errors, 'error')} and ${count(problems.length - errors, 'warning')} in ${count(folders, 'plugin folder')}`
  terminal.say(paint(errors > 0 ? 'red' : 'green', text))
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`
