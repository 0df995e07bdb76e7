import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { assertThere } from './api/assert-there.ts'
import { endOf, printReceipt } from './commands/events/print-receipt.ts'
import { createLimitOption } from './options.ts'
import type { DispatchReceipt, List, LogLine } from './records.ts'
import { openSession, type Session } from './session.ts'
import { paint, type Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'
import { withExamples } from './with-examples.ts'

type Filter = { integration?: string; installation?: string; request?: string; limit?: number }
type Options = Filter & { follow?: boolean; receipts: boolean }

const pollMs = 500
const defaultLimit = 50

/** `annex logs`: what scripts logged, the stacks of what they threw, and what each dispatch used. */
export function addLogs(program: Command): void {
  const command = program
    .command('logs')
    .description('print what scripts logged, where they failed, and what each request used')
    .argument('[of]', 'an integration by its name, or an installation or a request by its id')
    .option('--integration <name>', 'of that integration')
    .option('--installation <id>', 'of that installation')
    .option('--request <id>', 'of that request: the id is in each answer and error')
    .option('--no-receipts', 'only log lines, not what each request used')
    .addOption(createLimitOption())
    .option('--follow', 'go on printing, until interrupted')
    .action(async (of: string | undefined, options: Options, command: Command) => {
      const { follow, receipts, ...named } = options
      const filter = { ...named, ...filterOf(of, named) }
      const session = openSession(command)
      await (follow === true ? followLogs(session, filter, receipts) : printLogs(session, filter, receipts))
    })
  withExamples(command, ['annex logs webhook --follow', 'annex logs req_0199…'])
}

/** What somebody names without saying what it is. @throws UsageError when an option names another one */
function filterOf(of: string | undefined, named: Filter): Filter {
  if (of === undefined) return {}
  const key = of.startsWith('inst_') ? 'installation' : of.startsWith('req_') ? 'request' : 'integration'
  if (named[key] !== undefined) throw new UsageError(`Name ${of} or --${key} ${named[key]}, not both.`)
  return { [key]: of }
}

async function printLogs({ api, terminal }: Session, filter: Filter, withReceipts: boolean): Promise<void> {
  const lines = await api.get<List<LogLine>>('/v1/logs', filter)
  const receipts = withReceipts ? (await api.get<List<DispatchReceipt>>('/v1/receipts', filter)).items : []
  if (lines.items.length + receipts.length === 0) await assertThere(api, filter)
  if (terminal.json) return terminal.printJson({ ...lines, ...(withReceipts && { receipts }) })
  for (const entry of inOrder(lines.items, receipts).slice(-(filter.limit ?? defaultLimit))) {
    printEntry(terminal, entry)
  }
}

async function followLogs({ api, terminal }: Session, filter: Filter, withReceipts: boolean): Promise<void> {
  const lines = follow<LogLine>('/v1/logs')
  const receipts = follow<DispatchReceipt>('/v1/receipts')
  for (let isFirst = true; ; isFirst = false) {
    const entries = inOrder(await lines(), withReceipts ? await receipts() : [])
    if (isFirst && entries.length === 0) await assertThere(api, filter)
    for (const entry of entries) {
      if (terminal.json) terminal.printJsonLine(entry)
      else printEntry(terminal, entry)
    }
    await sleep(pollMs)
  }

  /** What is new since it was asked the last time; ten of what is old at first. */
  function follow<T extends { id: number }>(path: string): () => Promise<T[]> {
    let after = -1
    return async () => {
      const query = { ...filter, limit: 200, ...(after >= 0 && { after }) }
      const { items } = await api.get<List<T>>(path, query)
      if (after >= 0 && items.length === query.limit) terminal.say('Some lines may have been left out here.')
      const ordered = items.toSorted((one, other) => one.id - other.id)
      const found = after < 0 ? ordered.slice(-10) : ordered
      after = Math.max(after, 0, ...items.map(({ id }) => id))
      return found
    }
  }
}

type Entry = LogLine | DispatchReceipt

/** By time: the lines of a request come before what it used in all. */
const inOrder = (lines: LogLine[], receipts: DispatchReceipt[]): Entry[] =>
  [...lines, ...receipts].sort((one, other) => timeOf(one) - timeOf(other))

const timeOf = (entry: Entry): number => ('text' in entry ? Date.parse(entry.at) : endOf(entry))

function printEntry(terminal: Terminal, entry: Entry): void {
  if ('text' in entry) printLine(terminal, entry)
  // A script has no handler for most events: setup events come with each edit.
  else if (entry.outcome !== 'no_handler') printReceipt(terminal, entry)
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
