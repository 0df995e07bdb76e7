import { readFileSync } from 'node:fs'
import { createProgram } from './create-program.ts'
import { exitSoon, reportError, watchOutput } from './exit.ts'
import { createTerminal } from './terminal.ts'

const terminal = createTerminal(process, { color: !process.argv.includes('--no-color') })
watchOutput(terminal)
try {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  await createProgram(version).parseAsync()
} catch (error) {
  exitSoon(reportError(terminal, error))
}
