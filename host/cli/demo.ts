// `make demo`.
import { tellDemo } from './demo/tell-demo.ts'
import { exitSoon } from './exit-soon.ts'
import { reportError } from './report-error.ts'
import { createTerminal } from './terminal/terminal.ts'
import { watchOutput } from './watch-output.ts'

const terminal = createTerminal(process)
watchOutput(terminal)
try {
  exitSoon(await tellDemo(terminal))
} catch (error) {
  exitSoon(reportError(terminal, error))
}
