import packageJson from '../../package.json' with { type: 'json' }
import { createProgram } from './create-program.ts'
import { reportError } from './exit.ts'
import type { Surroundings } from './surroundings.ts'
import { createTerminal } from './terminal.ts'

/** The terminal of errors that end a command: it has read no option yet. */
export const createErrorTerminal = (surroundings: Surroundings) =>
  createTerminal(surroundings, { color: !surroundings.argv.includes('--no-color') })

/**
 * Runs the command that `argv` names. It may run several times in a process; `serve` and `demo` listen for the signals of
 * the process, and run once.
 *
 * @returns the exit code
 */
export async function runCommand(surroundings: Surroundings): Promise<number> {
  try {
    await createProgram(packageJson.version, surroundings).parseAsync(surroundings.argv)
    return Number(surroundings.exitCode ?? 0)
  } catch (error) {
    return reportError(createErrorTerminal(surroundings), error, surroundings.env)
  }
}
