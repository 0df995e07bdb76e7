import { useLocation, useRoute } from 'preact-iso'
import type { Job } from '../../../../../schemas/generated/api/jobs.ts'
import { api } from '../../api.ts'
import {
  type JobFilter,
  kinds,
  readJobFilter,
  states,
  toJobQuery,
  writeJobFilter,
} from '../../lists/job-filter.ts'
import { toLogText } from '../../lists/log-text.ts'
import { useRows } from '../../lists/use-rows.ts'
import { Action } from '../../parts/action.tsx'
import { useAttempt } from '../../parts/attempt.ts'
import { DispatchLink } from '../../parts/dispatch-link.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Choice } from '../../parts/field.tsx'
import { Filters } from '../../parts/filters/filters.tsx'
import { InstallationFilter } from '../../parts/filters/record-filter.tsx'
import { TimeFilter } from '../../parts/filters/time-filter.tsx'
import { Head } from '../../parts/head.tsx'
import { RowsPage } from '../../parts/rows.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { failedWorkTexts as texts } from '../../texts/failed-work.ts'
import { navigationTexts } from '../../texts/navigation.ts'
import { useLoad } from '../../use-load.ts'
import { JobActions, nameOf } from './actions.tsx'
import { toReason } from './reason.ts'

const everyMs = 5_000

/** Events and tasks that scripts could not handle, or that wait for them. Filter and page are in the address. */
export default function FailedWorkPage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const { page } = query
  const { error, attempt } = useAttempt()
  const filter = readJobFilter(query)
  const { kind, installation, state } = filter
  const here = `/orgs/${org}/failed-work`
  const addressOf = (page?: string) => here + writeJobFilter(filter, page)
  const change = (given: Partial<JobFilter>) => route(here + writeJobFilter({ ...filter, ...given }))
  const clear = () => route(here)
  const isFiltered = addressOf() !== here
  const rows = useRows(
    `jobs ${addressOf()}`,
    page,
    (at, signal) =>
      api.call('GET /v1/jobs', {
        query: { organization: org, ...toJobQuery(filter, Date.now()), ...at },
        signal,
      }),
    everyMs,
    state === 'failed' ? 'newest' : 'oldest',
  )
  const said = useLoad(`errors ${org} ${installation} ${rows.list.value?.rows.length}`, (signal) =>
    readErrors(org, installation, signal),
  )
  const { reload, value } = rows.list
  const failedColumns: Column<Job>[] = [
    {
      title: texts.columns.failed,
      kind: 'nowrap',
      cell: ({ finishedAt }) => finishedAt !== undefined && <Time at={finishedAt} />,
    },
    {
      title: texts.columns.actions,
      kind: 'nowrap',
      cell: (job) => (
        <div class="row">
          <JobActions kind="plain" job={job} attempt={attempt} onDone={reload} />
        </div>
      ),
    },
  ]
  const runAll = (jobs: readonly Job[]) =>
    attempt(async () => {
      try {
        for (const { id } of jobs) await api.call('POST /v1/jobs/{job}/run', { params: { job: id } })
        sayDone(texts.ranAll(jobs.length))
      } finally {
        reload()
      }
    })
  const shown = value?.rows ?? []
  return (
    <>
      <Head
        title={navigationTexts.failedWork}
        crumbs={[{ label: org, href: `/orgs/${org}` }, { label: navigationTexts.failedWork }]}
        actions={
          state === 'failed' &&
          shown.length > 1 && (
            <Action act={() => runAll(shown)} reason={reasonAgainst('runJob')}>
              {texts.runAll(shown.length)}
            </Action>
          )
        }
      >
        {texts.whats[state]}
      </Head>
      <Filters clear={isFiltered ? clear : undefined}>
        <Choice
          isHidden
          label={texts.state}
          value={state}
          options={states.map((value) => ({ value, label: texts.states[value] }))}
          onValue={(value) => change({ state: value as JobFilter['state'] })}
        />
        <Choice
          isHidden
          label={texts.kind}
          value={kind}
          options={[
            { value: '', label: texts.anyKind },
            ...kinds.map((value) => ({ value, label: texts.onlyKinds[value] })),
          ]}
          onValue={(value) => change({ kind: value as JobFilter['kind'] })}
        />
        <InstallationFilter
          org={org}
          value={installation}
          onValue={(value) => change({ installation: value })}
        />
        <TimeFilter range={filter} onChange={change} />
      </Filters>
      {error !== undefined && <ErrorNote error={error} />}
      <RowsPage
        of={rows}
        addressOf={addressOf}
        kept={({ retentionDays }) => {
          if (state !== 'failed') return texts.keptUntilDone
          return retentionDays === undefined ? texts.keptForEver : texts.kept(retentionDays)
        }}
        empty={<p>{texts.nothing}</p>}
        filtered={isFiltered || page ? { clear } : undefined}
      >
        {(jobs) => (
          <Table
            label={navigationTexts.failedWork}
            rows={jobs}
            keyOf={({ id }) => id}
            columns={[
              {
                title: texts.columns.what,
                kind: 'nowrap',
                cell: (job) => <a href={`${here}/${job.id}`}>{nameOf(job)}</a>,
              },
              {
                title: texts.columns.why,
                kind: 'wide-cell',
                cell: (job) => <Why org={org} job={job} said={said.value} />,
              },
              {
                title: texts.columns.installation,
                cell: ({ installation, integration }) =>
                  installation === undefined ? (
                    integration
                  ) : (
                    <a href={`/orgs/${org}/installations/${installation}`} title={installation}>
                      {integration}
                    </a>
                  ),
              },
              { title: texts.columns.attempts, kind: 'nowrap', cell: ({ attempts }) => attempts },
              ...(state === 'failed' ? failedColumns : pendingColumns),
            ]}
          />
        )}
      </RowsPage>
    </>
  )
}

const pendingColumns: readonly Column<Job>[] = [
  { title: texts.columns.created, kind: 'nowrap', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    title: texts.columns.next,
    kind: 'nowrap',
    cell: ({ nextAttemptAt }) => nextAttemptAt !== undefined && <Time at={nextAttemptAt} />,
  },
]

/** What scripts said when they failed, by the request. Older lines are on the page of a job. */
async function readErrors(
  org: string,
  installation: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const query = {
    organization: org,
    level: 'error',
    limit: 500,
    ...(installation && { installation }),
  } as const
  const { items } = await api.call('GET /v1/logs', { query, signal })
  return new Map(items.map(({ request = '', text }) => [request, toLogText(text).message]))
}

function Why({
  org,
  job: { error, state },
  said,
}: {
  org: string
  job: Job
  said: ReadonlyMap<string, string> | undefined
}) {
  if (error === undefined) return <>{texts.sentences[state]}</>
  const { request } = error
  const line = said?.get(request ?? '')
  return (
    <>
      {line === undefined ? (
        toReason(error)
      ) : (
        <code class="excerpt" dir="auto">
          {line}
        </code>
      )}
      {request !== undefined && (
        <>
          {' '}
          <DispatchLink org={org} request={request} />
        </>
      )}
    </>
  )
}
