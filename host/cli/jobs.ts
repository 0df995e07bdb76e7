import { type Command, Option } from 'commander'
import type { JobWithPayload, ListJobsQuery } from '../../schemas/generated/api/jobs.ts'
import { assertFilterExists } from './find-records.ts'
import { createLimitOption, createPageOption, withExamples } from './options.ts'
import { openSession, type Session } from './session.ts'
import { paint, printTable, toStatus } from './terminal.ts'

export function addJobs(program: Command): void {
  const jobs = program
    .command('jobs')
    .description('list, show, run and discard failed and due jobs: events and tasks for scripts')
  withExamples(jobs, ['annex jobs', 'annex jobs list --state due --kind task', 'annex jobs run job_0199…'])
  jobs
    .command('list', { isDefault: true })
    .description('list failed jobs, newest first; other states by due time')
    .addOption(
      new Option('--state <state>', 'in this state (failed)').choices([
        'failed',
        'due',
        'running',
        'waiting',
      ]),
    )
    .addOption(new Option('--kind <kind>', 'of this kind').choices(['event', 'task']))
    .option('--installation <id>', 'of this installation')
    .addOption(createLimitOption())
    .addOption(createPageOption())
    .action(async (query: Partial<ListJobsQuery>, command: Command) => {
      const { api, terminal } = openSession(command)
      await assertFilterExists(api, query)
      const answer = await api.call('GET /v1/jobs', { query })
      if (terminal.json) return terminal.printJson(answer)
      const rows = answer.items.map((job) => [
        job.id,
        toStatus(job.state),
        job.event.type,
        String(job.attempts),
        job.nextAttemptAt ?? job.finishedAt ?? job.createdAt,
        job.integration,
        job.error?.message ?? '',
      ])
      printTable(terminal, ['job', 'state', 'event', 'attempts', 'when', 'integration', 'error'], rows)
    })
  jobs
    .command('show')
    .description('show a job: its payload, and the log of its last attempt')
    .argument('<id>', 'id of the job')
    .action(async (id: string, _options: object, command: Command) => {
      const session = openSession(command)
      await show(session, await session.api.call('GET /v1/jobs/{job}', { params: { job: id } }))
    })
  jobs
    .command('run')
    .description('run a failed job again, with a new retry schedule')
    .argument('<id>', 'id of the job')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      const job = await api.call('POST /v1/jobs/{job}/run', { params: { job: id } })
      if (terminal.json) return terminal.printJson(job)
      terminal.print(`${job.id} `, toStatus(job.state))
    })
  jobs
    .command('discard')
    .description('discard a failed job: it is not run again, and no problem any more')
    .argument('<id>', 'id of the job')
    .action(async (id: string, _options: object, command: Command) => {
      const { api, terminal } = openSession(command)
      await api.call('DELETE /v1/jobs/{job}', { params: { job: id } })
      if (terminal.json) return terminal.printJson({ discarded: id })
      terminal.print(`${id} discarded`)
    })
}

async function show({ api, terminal }: Session, job: JobWithPayload): Promise<void> {
  const { id, state, event, integration, installation, attempts, error, payload } = job
  const request = error?.request
  const log = request === undefined ? [] : (await api.call('GET /v1/logs', { query: { request } })).items
  if (terminal.json) return terminal.printJson({ ...job, log })
  terminal.print(paint('bold', id), ' ', toStatus(state), error === undefined ? '' : ` ${error.message}`)
  terminal.print(`event        ${event.id} ${event.type}`)
  terminal.print(`integration  ${integration}`)
  if (installation !== undefined) terminal.print(`installation ${installation}`)
  terminal.print(`attempts     ${attempts}`)
  terminal.print(JSON.stringify(payload, null, 2))
  for (const { at, level, text } of log) {
    terminal.print(paint('dim', `${at} `), `${level.padEnd(5)} `, text.replaceAll('\n', '\n    '))
  }
}
