import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { LogLine } from '../../schemas/generated/api/logs.ts'
import type { Receipt } from '../../schemas/generated/api/receipts.ts'
import { assertFilterExists } from './find-records.ts'
import { createLimitOption, UsageError, withExamples } from './options.ts'
import { openSession, type Session } from './session.ts'
import { paint, type Terminal, toSafeLine } from './terminal.ts'

type Filter = { integration?: string; installation?: string; request?: string; limit?: number }
type Options = Filter & { follow?: boolean; receipts: boolean }

const pollMs = 500
const defaultLimit = 50

export function addLogs(program: Command): void {
  const command = program
    .command('logs')
    .description('print the logs of scripts, with errors and the resources of each request')
    .argument('[of]', 'name of an integration, or id of an installation or a request')
    .option('--integration <name>', 'of this integration')
    .option('--installation <id>', 'of this installation')
    .option('--request <id>', 'of this request; each answer and error has its id')
    .option('--no-receipts', 'print log lines only, not the resources of requests')
    .addOption(createLimitOption())
    .option('--follow', 'print new lines too, until interrupted')
    .action(async (of: string | undefined, options: Options, command: Command) => {
      const { follow, receipts, ...named } = options
      const filter = { ...named, ...filterOf(of, named) }
      const session = openSession(command)
      await (follow === true ? followLogs(session, filter, receipts) : printLogs(session, filter, receipts))
    })
  withExamples(command, ['annex logs webhook --follow', 'annex logs req_0199…'])
}

/** The filter of an argument, by the prefix of its id. @throws UsageError when an option names another record */
function filterOf(of: string | undefined, named: Filter): Filter {
  if (of === undefined) return {}
  const key = of.startsWith('inst_') ? 'installation' : of.startsWith('req_') ? 'request' : 'integration'
  if (named[key] !== undefined) throw new UsageError(`Name ${of} or --${key} ${named[key]}, not both.`)
  return { [key]: of }
}

async function printLogs({ api, terminal }: Session, filter: Filter, withReceipts: boolean): Promise<void> {
  const lines = await api.call('GET /v1/logs', { query: filter })
  const receipts = withReceipts ? (await api.call('GET /v1/receipts', { query: filter })).items : []
  if (lines.items.length + receipts.length === 0) await assertFilterExists(api, filter)
  if (terminal.json) return terminal.printJson({ ...lines, ...(withReceipts && { receipts }) })
  for (const entry of inOrder(lines.items, receipts).slice(-(filter.limit ?? defaultLimit))) {
    printEntry(terminal, entry)
  }
}

async function followLogs({ api, terminal }: Session, filter: Filter, withReceipts: boolean): Promise<void> {
  const lines = follow((query) => api.call('GET /v1/logs', { query }))
  const receipts = follow((query) => api.call('GET /v1/receipts', { query }))
  for (let isFirst = true; ; isFirst = false) {
    const entries = inOrder(await lines(), withReceipts ? await receipts() : [])
    if (isFirst && entries.length === 0) await assertFilterExists(api, filter)
    for (const entry of entries) {
      if (terminal.json) terminal.printJsonLine(entry)
      else printEntry(terminal, entry)
    }
    await sleep(pollMs)
  }

  /** Reads the entries since the last call; at first, the ten newest. */
  function follow<T extends { id: number }>(
    read: (query: Filter & { after?: number }) => Promise<{ items: T[] }>,
  ): () => Promise<T[]> {
    let after = -1
    return async () => {
      const query = { ...filter, limit: 200, ...(after >= 0 && { after }) }
      const { items } = await read(query)
      if (after >= 0 && items.length === query.limit) terminal.say('Lines may be missing here.')
      const ordered = items.toSorted((one, other) => one.id - other.id)
      const found = after < 0 ? ordered.slice(-10) : ordered
      after = Math.max(after, 0, ...items.map(({ id }) => id))
      return found
    }
  }
}

type Entry = LogLine | Receipt

/** Sorts by time. The log lines of a request come before its receipt. */
const inOrder = (lines: LogLine[], receipts: Receipt[]): Entry[] =>
  [...lines, ...receipts].sort((one, other) => timeOf(one) - timeOf(other))

const timeOf = (entry: Entry): number => ('text' in entry ? Date.parse(entry.at) : endOf(entry))

function printEntry(terminal: Terminal, entry: Entry): void {
  if ('text' in entry) printLine(terminal, entry)
  // Scripts lack handlers for most events, such as the setup events of each edit.
  else if (entry.outcome !== 'no_handler') printReceipt(terminal, entry)
}

const styles = { error: 'red', warn: 'yellow' } as const

/** Indents further lines of a text, so that a script cannot forge a line of another script. */
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

/** One line: `req_… fetch 200 ok · 1.2 ms CPU · 4 ms · 3.1 MB heap · 2 calls · 12 kB out`. */
export function printReceipt(terminal: Terminal, receipt: Receipt): void {
  const { request, type, outcome, status, integration } = receipt
  const result = `${status === undefined ? '' : `${status} `}${outcome}`
  terminal.print(
    paint('dim', `${new Date(endOf(receipt)).toISOString()} `),
    paint(outcome === 'ok' ? 'green' : 'red', 'used '),
    ` ${integration} ${request} ${toSafeLine(type)} `,
    paint(outcome === 'ok' ? 'green' : 'red', result),
    paint('dim', ` · ${describeUse(receipt)}`),
  )
}

/** The end of a dispatch in Unix ms. */
const endOf = ({ startedAt, wallMs }: Receipt): number => Date.parse(startedAt) + wallMs

function describeUse(receipt: Receipt): string {
  const { cpuMs, wallMs, heapBytes, hostCalls, egressCalls, egressBytes } = receipt
  return [
    `${toShort(cpuMs)} ms CPU`,
    `${toShort(wallMs)} ms`,
    ...(heapBytes > 0 ? [`${toShort(heapBytes / 1e6)} MB heap`] : []),
    ...(hostCalls > 0 ? [`${hostCalls} ${hostCalls === 1 ? 'call' : 'calls'}`] : []),
    ...(egressCalls > 0 ? [`${toSize(egressBytes)} out`] : []),
  ].join(' · ')
}

/** `, with 1 outbound request, 2 deliveries and 1 task`. Empty when there are none. */
export function describeCalls({ egressCalls, deliveries, tasks }: Receipt): string {
  const counts = [
    [egressCalls, 'outbound request', 'outbound requests'],
    [deliveries, 'delivery', 'deliveries'],
    [tasks, 'task', 'tasks'],
  ] as const
  const parts = counts
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => `${count} ${count === 1 ? one : many}`)
  const last = parts.pop()
  if (last === undefined) return ''
  return `, with ${parts.length === 0 ? last : `${parts.join(', ')} and ${last}`}`
}

/** One decimal below 10, none above. */
export const toShort = (number: number): string =>
  number < 10 ? String(Number(number.toFixed(1))) : number.toFixed(0)

function toSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1e6 ? `${toShort(bytes / 1_000)} kB` : `${toShort(bytes / 1e6)} MB`
}
