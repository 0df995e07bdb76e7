import { useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { Activity } from '../../../../../schemas/generated/api/activity.ts'
import { api, organizationHeader } from '../../api.ts'
import { me } from '../../state.ts'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import { Loaded } from '../state.tsx'
import { Chart } from './chart.tsx'
import { toCharts } from './to-charts.ts'

const spans = ['hour', 'day', 'week'] as const
type Span = (typeof spans)[number]
const everyMs = 30_000

/** Requests, deliveries, their times and the load, of one organization, or of all of Annex for an operator. */
export function Charts({ org }: { org: string }) {
  const { path, query } = useLocation()
  const isOperator = me.value?.role === 'operator'
  const isWhole = isOperator && query.of === 'annex'
  const span: Span = spans.find((one) => one === query.span) ?? 'day'
  const activity = useLoad(
    `activity ${org} ${isWhole} ${span}`,
    async (signal) => {
      const read = await api.call('GET /v1/activity', {
        query: { span, ...(!isWhole && { organization: org }) },
        ...(isWhole && { headers: { [organizationHeader]: '' } }),
        signal,
      })
      return { read, atMs: Date.now() }
    },
    everyMs,
  )
  const addressOf = (change: { span?: Span; of?: string }) =>
    `${path}?${new URLSearchParams({ ...query, ...change })}`
  return (
    <section>
      <div class="part-head">
        <h2>{texts.charts.title}</h2>
        <nav class="choices" aria-label={texts.charts.span}>
          {spans.map((one) => (
            <a key={one} href={addressOf({ span: one })} aria-current={one === span ? 'true' : undefined}>
              {texts.charts.spans[one]}
            </a>
          ))}
        </nav>
        {isOperator && (
          <nav class="choices" aria-label={texts.charts.of}>
            <a href={addressOf({ of: 'organization' })} aria-current={isWhole ? undefined : 'true'}>
              {texts.charts.ofOrganization}
            </a>
            <a href={addressOf({ of: 'annex' })} aria-current={isWhole ? 'true' : undefined}>
              {texts.charts.ofAnnex}
            </a>
          </nav>
        )}
      </div>
      <Loaded
        of={activity}
        isEmpty={({ read }) => read.points.length === 0}
        empty={<p>{texts.charts.nothing}</p>}
      >
        {({ read, atMs }) => <Drawn activity={read} atMs={atMs} />}
      </Loaded>
      <p class="muted small">{texts.charts.kept}</p>
    </section>
  )
}

function Drawn({ activity, atMs }: { activity: Activity; atMs: number }) {
  const { times, charts } = useMemo(() => toCharts(activity, atMs, texts.charts), [activity, atMs])
  return (
    <div class="charts">
      {charts.map((chart) => (
        <Chart key={chart.name} times={times} chart={chart} />
      ))}
    </div>
  )
}
