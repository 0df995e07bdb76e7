import { exitSoon, watchOutput } from './exit.ts'
import { createErrorTerminal, runCommand } from './run-command.ts'

watchOutput(createErrorTerminal(process))
exitSoon(await runCommand(process))
