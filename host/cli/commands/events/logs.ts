import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { List, LogLine } from '../../api/records.ts'
import { createLimitOption } from '../../limit-option.ts'
import { openSession, type Session } from '../../open-session.ts'
import { paint, type Terminal } from '../../terminal/terminal.ts'
import { withExamples } from '../../with-examples.ts'

type Filter = { integration?: string; installation?: string; request?: string; limit?: number }

const pollMs = 500

/** `annex logs`: what scripts logged, and the stacks of what they threw. */
export function addLogs(program: Command): void {
  const command = program
    .command('logs')
    .description('print what scripts logged, and where they failed')
    .option('--integration <name>', 'of that integration')
    .option('--installation <id>', 'of that installation')
    .option('--request <id>', 'of that request: the id is in each answer and error')
    .addOption(createLimitOption())
    .option('--follow', 'go on printing, until interrupted')
    .action(async ({ follow, ...filter }: Filter & { follow?: boolean }, command: Command) => {
      const session = openSession(command)
      await (follow === true ? followLogs(session, filter) : printLogs(session, filter))
    })
  withExamples(command, ['annex logs --integration webhook --follow', 'annex logs --request req_0199…'])
}

async function printLogs({ api, terminal }: Session, filter: Filter): Promise<void> {
  const answer = await api.get<List<LogLine>>('/v1/logs', filter)
  if (terminal.json) return terminal.printJson(answer)
  for (const line of answer.items) printLine(terminal, line)
}

async function followLogs({ api, terminal }: Session, filter: Filter): Promise<void> {
  for (let after = -1; ; ) {
    const query = { ...filter, limit: 200, ...(after >= 0 && { after }) }
    const { items } = await api.get<List<LogLine>>('/v1/logs', query)
    // The API gives the newest lines only.
    if (after >= 0 && items.length === query.limit) terminal.say('Some lines may have been left out here.')
    for (const line of after < 0 ? items.slice(-10) : items) {
      if (terminal.json) terminal.printJsonLine(line)
      else printLine(terminal, line)
    }
    after = Math.max(after, 0, ...items.map(({ id }) => id))
    await sleep(pollMs)
  }
}

const styles = { error: 'red', warn: 'yellow' } as const

/** Further lines of a text are indented: a script cannot make one look like a line of another. */
function printLine(terminal: Terminal, { at, level, integration, request, text }: LogLine): void {
  const style = Object.hasOwn(styles, level) ? styles[level as keyof typeof styles] : 'dim'
  terminal.print(
    paint('dim', `${at} `),
    paint(style, level.padEnd(5)),
    ` ${integration} `,
    text.replaceAll('\n', '\n    '),
    request === undefined ? '' : paint('dim', ` ${request}`),
  )
}
