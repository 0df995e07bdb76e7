import type { Command } from 'commander'
import type { AuditEntry, AuditList } from '../../schemas/generated/api/audit.ts'
import { createLimitOption, withExamples } from './options.ts'
import { openSession } from './session.ts'
import { printTable } from './terminal.ts'

type Options = { action?: string; subject?: string; actor?: string; limit?: number; all?: true }

export function addAudit(program: Command): void {
  const command = program
    .command('audit')
    .description('list changes: who changed what, and when; --all prints every change as a line of JSON')
    .option('--action <name>', 'only this action: settings.change')
    .option('--subject <id>', 'only changes of this record')
    .option('--actor <id>', 'only changes by this member, token or script')
    .option('--all', 'all changes, as lines of JSON')
    .addOption(createLimitOption())
    .action(listAudit)
  withExamples(command, [
    'annex audit',
    'annex audit --subject inst_0199…',
    'annex audit --all > audit.ndjson',
  ])
}

async function listAudit({ all, limit, ...filter }: Options, command: Command): Promise<void> {
  const { api, terminal } = openSession(command)
  if (all) {
    let page: string | undefined
    do {
      const answer: AuditList = await api.get('/v1/audit', { ...filter, page, limit: 1000 })
      for (const entry of answer.items) terminal.printJsonLine(entry)
      page = answer.next?.page
    } while (page !== undefined)
    return
  }
  const answer = await api.get<AuditList>('/v1/audit', { ...filter, limit })
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
