import { readFileSync } from 'node:fs'
import { createProgram } from './create-program.ts'
import { exitSoon } from './exit-soon.ts'
import { reportError } from './report-error.ts'
import { createTerminal } from './terminal.ts'
import { watchOutput } from './watch-output.ts'

const terminal = createTerminal(process, { color: !process.argv.includes('--no-color') })
watchOutput(terminal)
try {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  await createProgram(version).parseAsync()
} catch (error) {
  exitSoon(reportError(terminal, error))
}
