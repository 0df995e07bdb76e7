import { useEffect, useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { isApiError } from '../../../../../schemas/client.ts'
import type { JobWithPayload } from '../../../../../schemas/generated/api/jobs.ts'
import { api } from '../../api.ts'
import { useAttempt } from '../../parts/attempt.ts'
import { Boundary } from '../../parts/boundary.tsx'
import { CopyButton, Id } from '../../parts/copy.tsx'
import { DispatchLink } from '../../parts/dispatch-link.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Level, LogText } from '../../parts/log-text.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { failedWorkTexts as texts } from '../../texts/failed-work.ts'
import { logTexts } from '../../texts/logs.ts'
import { navigationTexts } from '../../texts/navigation.ts'
import { texts as general } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import { JobActions } from './actions.tsx'
import { toReason } from './reason.ts'

const everyMs = 3_000

/** One event or task that failed: why, what the script gets, and what a person can do. */
export default function JobPage() {
  const { org = '', job: id = '' } = useRoute().params
  const { route } = useLocation()
  const { error, attempt } = useAttempt()
  const [isGone, setIsGone] = useState(false)
  const list = `/orgs/${org}/failed-work`
  const read = useLoad(
    `job ${org} ${id}`,
    (signal) => api.call('GET /v1/jobs/{job}', { params: { job: id }, signal }),
    isGone ? undefined : everyMs,
  )
  const { value } = read
  // A job that is done is deleted: the page says so, and keeps what it showed.
  const isMissing = isApiError(read.error, 'not_found') && value !== undefined
  useEffect(() => setIsGone(isMissing), [isMissing])
  const title =
    value === undefined
      ? navigationTexts.failedWork
      : texts.title(value.kind, value.event.type, value.state === 'failed')
  return (
    <>
      <Head
        title={title}
        crumbs={[
          { label: org, href: `/orgs/${org}` },
          { label: navigationTexts.failedWork, href: list },
          { label: value === undefined ? id : `${texts.kinds[value.kind]} ${value.event.type}` },
        ]}
        actions={
          value?.state === 'failed' &&
          !isGone && (
            <JobActions
              kind="main"
              job={value}
              attempt={attempt}
              onDone={(did) => (did === 'discard' ? route(list) : read.reload())}
            />
          )
        }
      >
        {isGone ? texts.gone : value && texts.sentences[value.state]}
      </Head>
      {error !== undefined && <ErrorNote error={error} />}
      <Loaded of={read}>
        {(job) => (
          <>
            {!isGone && <Why org={org} job={job} />}
            <Facts org={org} job={job} />
            {job.error?.request !== undefined && (
              <Boundary>
                <Lines request={job.error.request} />
              </Boundary>
            )}
            <Payload payload={job.payload} />
          </>
        )}
      </Loaded>
    </>
  )
}

function Why({ org, job: { error, state } }: { org: string; job: JobWithPayload }) {
  if (error === undefined || state !== 'failed') return null
  return (
    <div class="note bad">
      <Icon name="warning" />
      <div>
        <span class="detail">{toReason(error)}</span>
        {error.request !== undefined && (
          <span class="detail small">
            {texts.dispatch} <DispatchLink org={org} request={error.request} />
          </span>
        )}
      </div>
    </div>
  )
}

function Facts({ org, job }: { org: string; job: JobWithPayload }) {
  const { id, kind, integration, installation, target, event, attempts, createdAt, finishedAt } = job
  const place = target?.site ?? target?.space
  return (
    <dl class="facts">
      <dt>{texts.facts.kind}</dt>
      <dd>{texts.kinds[kind]}</dd>
      <dt>{texts.facts.installation}</dt>
      <dd>
        {installation === undefined ? (
          integration
        ) : (
          <a href={`/orgs/${org}/installations/${installation}`} title={installation}>
            {integration}
          </a>
        )}
      </dd>
      {place !== undefined && (
        <>
          <dt>{texts.facts.place}</dt>
          <dd>
            <a href={`/orgs/${org}/${target?.site === undefined ? 'spaces' : 'sites'}/${place}`}>
              <code>{place}</code>
            </a>
          </dd>
        </>
      )}
      <dt>{texts.facts.event}</dt>
      <dd>
        <Id value={event.id} />
      </dd>
      <dt>{texts.facts.attempts}</dt>
      <dd>{attempts}</dd>
      <dt>{texts.facts.created}</dt>
      <dd>
        <Time at={createdAt} />
      </dd>
      {finishedAt !== undefined && (
        <>
          <dt>{texts.facts.failed}</dt>
          <dd>
            <Time at={finishedAt} />
          </dd>
        </>
      )}
      <dt>{texts.facts.id}</dt>
      <dd>
        <Id value={id} />
      </dd>
    </dl>
  )
}

/** What the script logged in its last attempt. */
function Lines({ request }: { request: string }) {
  const lines = useLoad(`lines of ${request}`, (signal) =>
    api.call('GET /v1/logs', { query: { request, limit: 100 }, signal }),
  )
  return (
    <section>
      <h2>{texts.log}</h2>
      <Loaded of={lines} isEmpty={({ items }) => items.length === 0} empty={<p>{logTexts.noLines}</p>}>
        {({ items }) => (
          <Table
            label={texts.log}
            rows={items}
            keyOf={({ id }) => String(id)}
            columns={[
              { title: logTexts.columns.at, kind: 'nowrap', cell: ({ at }) => <Time at={at} /> },
              { title: logTexts.columns.level, kind: 'nowrap', cell: ({ level }) => <Level level={level} /> },
              {
                title: logTexts.columns.text,
                kind: 'wide-cell',
                cell: ({ text }) => <LogText text={text} />,
              },
            ]}
          />
        )}
      </Loaded>
    </section>
  )
}

function Payload({ payload }: { payload: JobWithPayload['payload'] }) {
  const text = JSON.stringify(payload, null, 2)
  return (
    <section>
      <h2>{texts.payload}</h2>
      <p class="muted">{texts.payloadWhat}</p>
      <div class="with-copy">
        <pre class="answer" dir="auto">
          {text}
        </pre>
        <CopyButton text={text} label={general.copy(texts.payload)} />
      </div>
    </section>
  )
}
