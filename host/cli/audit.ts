import type { Command } from 'commander'
import type { AuditEntry, ListAuditQuery } from '../../schemas/generated/api/audit.ts'
import { createLimitOption, parseTime, withExamples } from './options.ts'
import { openSession } from './session.ts'
import { printTable } from './terminal.ts'

type Options = Partial<ListAuditQuery> & { all?: true }

export function addAudit(program: Command): void {
  const command = program
    .command('audit')
    .description('list changes: who changed what, and when; --all prints every change as a line of JSON')
    .option('--action <name>', 'only this action: settings.change')
    .option('--subject <id>', 'only changes of this record')
    .option('--actor <id>', 'only changes by this member, token or script')
    .option('--since <time>', 'only from this time on, or how long ago (30m, 2h, 7d)', parseTime)
    .option('--until <time>', 'only before this time', parseTime)
    .option('--all', 'all changes, as lines of JSON')
    .addOption(createLimitOption())
    .action(listAudit)
  withExamples(command, [
    'annex audit',
    'annex audit --subject inst_0199… --since 7d',
    'annex audit --all > audit.ndjson',
  ])
}

async function listAudit({ all, limit, ...filter }: Options, command: Command): Promise<void> {
  const { api, terminal } = openSession(command)
  if (all) {
    for await (const entry of api.all('GET /v1/audit', { query: filter })) terminal.printJsonLine(entry)
    return
  }
  const answer = await api.call('GET /v1/audit', { query: { ...filter, limit } })
  if (terminal.json) return terminal.printJson(answer)
  const rows = answer.items.map((entry) => [
    entry.at,
    entry.action,
    entry.subject.id,
    `${entry.actor.kind} ${entry.actor.id ?? ''}`.trim(),
    toChange(entry),
  ])
  printTable(terminal, ['when', 'action', 'subject', 'by', 'change'], rows)
}

/** The fields that differ. */
function toChange({ before, after }: AuditEntry): string {
  const [from, to] = [before ?? {}, after ?? {}].map((value) => new Map(Object.entries(value)))
  const names = new Set([...(from?.keys() ?? []), ...(to?.keys() ?? [])])
  return [...names]
    .map((name) => [name, JSON.stringify(from?.get(name)), JSON.stringify(to?.get(name))])
    .filter(([, one, other]) => one !== other)
    .map(([name, one = '', other = '']) => `${name}: ${[one, other].filter(Boolean).join(' → ')}`)
    .join(', ')
}
