import { readFileSync } from 'node:fs'
import { AnnexError } from '../errors/annex-error.ts'
import { createProgram } from './create-program.ts'
import { exitSoon } from './exit-soon.ts'
import { reportError } from './report-error.ts'
import { createTerminal, type Terminal } from './terminal/terminal.ts'

// Nobody can be told then.
process.stderr.on('error', () => {})
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A command that pipes into it says more.
  if (process.stdout.listenerCount('error') > 1) return
  // `annex logs | head`: whoever reads has had enough, and that is no failure.
  if (error.code === 'EPIPE') process.exit()
  const text = `What was to be printed cannot be written (${error.message}).`
  process.exit(reportError(plainTerminal(), new AnnexError('unavailable', text)))
})

try {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  await createProgram(version).parseAsync()
} catch (error) {
  exitSoon(reportError(plainTerminal(), error))
}

function plainTerminal(): Terminal {
  return createTerminal(process, { color: !process.argv.includes('--no-color') })
}
