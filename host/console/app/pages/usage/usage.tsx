import { useLocation, useRoute } from 'preact-iso'
import type { DispatchLimits, InstallationUsage } from '../../../../../schemas/generated/api/usage.ts'
import { api } from '../../api.ts'
import { toSearch } from '../../lists/address.ts'
import { Boundary } from '../../parts/boundary.tsx'
import { Choice } from '../../parts/field.tsx'
import { Filters } from '../../parts/filters/filters.tsx'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/state.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { navigationTexts } from '../../texts/navigation.ts'
import { usageTexts as texts } from '../../texts/usage.ts'
import { useLoad } from '../../use-load.ts'

const everyMs = 15_000
const most = 100
const spans = ['hour', 'day', 'week'] as const
type Span = (typeof spans)[number]
/** Rows of the second table: a span in its parts, the newest first. */
const parts = {
  hour: { by: 'minute', limit: 60 },
  day: { by: 'hour', limit: 24 },
  week: { by: 'day', limit: 8 },
} as const

/** What scripts used, by installation and by time. The time is in the address. */
export default function UsagePage() {
  const { params, query } = useRoute()
  const { route } = useLocation()
  const { org = '' } = params
  const span = spans.find((one) => one === query.span) ?? 'day'
  return (
    <>
      <Head
        title={navigationTexts.usage}
        crumbs={[{ label: org, href: `/orgs/${org}` }, { label: navigationTexts.usage }]}
      >
        {texts.what}
      </Head>
      <Filters clear={undefined}>
        <Choice
          isHidden
          label={texts.span}
          value={span}
          options={spans.map((value) => ({ value, label: texts.spans[value] }))}
          onValue={(value) => route(`/orgs/${org}/usage${toSearch({ span: value === 'day' ? '' : value })}`)}
        />
      </Filters>
      <Boundary>
        <ByInstallation org={org} span={span} />
      </Boundary>
      <Boundary>
        <ByTime org={org} span={span} />
      </Boundary>
      <p class="until">{texts.kept}</p>
    </>
  )
}

type Sums = Omit<InstallationUsage, 'object' | 'integration' | 'installation'>
const count = (value: number) => value.toLocaleString('en')

const sumColumns: readonly Column<Sums>[] = [
  { title: texts.columns.dispatches, kind: 'number', cell: ({ dispatches }) => count(dispatches) },
  {
    title: texts.columns.failed,
    kind: 'number',
    cell: ({ failed }) => <span class={failed > 0 ? 'bad-text' : ''}>{count(failed)}</span>,
  },
  { title: texts.columns.cpu, kind: 'number', cell: ({ cpuMs }) => texts.seconds(cpuMs) },
  { title: texts.columns.heap, kind: 'number', cell: ({ maxHeapBytes }) => texts.bytes(maxHeapBytes) },
  { title: texts.columns.egress, kind: 'number', cell: ({ egressCalls }) => count(egressCalls) },
  { title: texts.columns.bytes, kind: 'number', cell: ({ egressBytes }) => texts.bytes(egressBytes) },
  { title: texts.columns.host, kind: 'number', cell: ({ hostCalls }) => count(hostCalls) },
]

function ByInstallation({ org, span }: { org: string; span: Span }) {
  const list = useLoad(
    `usage by installation ${org} ${span}`,
    (signal) =>
      api.call('GET /v1/usage/installations', { query: { organization: org, span, limit: most }, signal }),
    everyMs,
  )
  return (
    <section>
      <h2>{texts.byInstallation}</h2>
      <Loaded of={list} isEmpty={({ items }) => items.length === 0} empty={<p>{texts.nothing}</p>}>
        {({ items, limits }) => (
          <>
            <Table
              label={texts.byInstallation}
              rows={items}
              keyOf={({ installation, integration }) => installation ?? integration}
              columns={[
                {
                  title: texts.columns.installation,
                  cell: ({ installation, integration }) =>
                    installation === undefined ? (
                      <>
                        {integration} <span class="muted">{texts.ofIntegration}</span>
                      </>
                    ) : (
                      <a href={`/orgs/${org}/installations/${installation}`} title={installation}>
                        {integration}
                      </a>
                    ),
                },
                ...sumColumns,
              ]}
            />
            {items.length === most && <p class="until">{texts.most(most)}</p>}
            <p class="until">{toLimitText(limits)}</p>
          </>
        )}
      </Loaded>
    </section>
  )
}

function toLimitText({ cpuMs, heapBytes, egressCalls, hostCalls }: DispatchLimits): string {
  const each = [
    ...[texts.ofCpu(texts.seconds(cpuMs)), texts.ofHeap(texts.bytes(heapBytes))],
    ...[texts.ofRequests(egressCalls), texts.ofHost(hostCalls)],
  ]
  return `${texts.limits} ${each.join(', ')}.`
}

function ByTime({ org, span }: { org: string; span: Span }) {
  const list = useLoad(
    `usage by time ${org} ${span}`,
    (signal) => api.call('GET /v1/usage', { query: { organization: org, ...parts[span] }, signal }),
    everyMs,
  )
  const title = texts.byTime[span]
  return (
    <section>
      <h2>{title}</h2>
      <Loaded of={list} isEmpty={({ items }) => items.length === 0} empty={<p>{texts.nothing}</p>}>
        {({ items }) => (
          <Table
            label={title}
            rows={items}
            keyOf={({ at }) => at}
            columns={[
              { title: texts.columns.from, kind: 'nowrap', cell: ({ at }) => <Time at={at} /> },
              ...sumColumns,
            ]}
          />
        )}
      </Loaded>
    </section>
  )
}
