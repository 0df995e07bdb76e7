import { readFileSync } from 'node:fs'
import { createProgram } from './create-program.ts'
import { exitSoon } from './exit-soon.ts'
import { reportError } from './report-error.ts'
import { createTerminal } from './terminal/terminal.ts'

// `annex logs | head`: whoever reads has had enough, and that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  throw error
})

try {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  await createProgram(version).parseAsync()
} catch (error) {
  const terminal = createTerminal(process, { color: !process.argv.includes('--no-color') })
  exitSoon(reportError(terminal, error))
}
