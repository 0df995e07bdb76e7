import { AnnexError } from '../errors/annex-error.ts'
import { reportError } from './report-error.ts'
import type { Terminal } from './terminal.ts'

/** Ends the process, and says why, where what it prints cannot be written. A command that listens itself does as it likes. */
export function watchOutput(terminal: Terminal): void {
  // Nobody can be told then.
  process.stderr.on('error', () => {})
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (process.stdout.listenerCount('error') > 1) return
    // `annex logs | head`: whoever reads has had enough, and that is no failure.
    if (error.code === 'EPIPE') process.exit()
    const text = `What was to be printed cannot be written (${error.message}).`
    process.exit(reportError(terminal, new AnnexError('unavailable', text)))
  })
}
