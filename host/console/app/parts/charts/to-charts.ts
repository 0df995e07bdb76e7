import type { Activity, ActivityPoint } from '../../../../../schemas/generated/api/activity.ts'

/** One line of a chart. `null`: nothing was measured at that time. */
export type Line = { label: string; tone: 'accent' | 'good' | 'warning' | 'bad'; values: (number | null)[] }
export type Unit = 'count' | 'ms' | 'seconds' | 'bytes' | 'percent'
/** `sums`: the head of the chart has the sum of a line, in place of its last value. */
export type ChartData = { name: string; unit: Unit; sums?: true; lines: Line[] }

type Names = Record<'requests' | 'deliveries' | 'latency' | 'backlog' | 'age' | 'cpu' | 'memory', string> & {
  lines: Record<
    | 'requests'
    | 'failedRequests'
    | 'delivered'
    | 'failed'
    | 'requestP50'
    | 'requestP99'
    | 'attemptP99'
    | 'jobs'
    | 'oldest'
    | 'cpu'
    | 'memory',
    string
  >
}

/**
 * The charts of one answer: the same times for all, so that one cursor marks them all. A time without a point had no work: its
 * counts are 0, and nothing was measured.
 *
 * @param nowMs the end of the last step
 */
export function toCharts(
  { from, stepSeconds, points, organization }: Activity,
  nowMs: number,
  names: Names,
): { times: number[]; charts: ChartData[] } {
  const stepMs = stepSeconds * 1000
  const firstMs = Math.floor(Date.parse(from) / stepMs) * stepMs
  const count = Math.max(1, Math.floor((nowMs - firstMs) / stepMs) + 1)
  const times = Array.from({ length: count }, (_, at) => (firstMs + at * stepMs) / 1000)
  const byTime = new Map(points.map((point) => [Date.parse(point.at) / 1000, point]))
  const counts = (read: (point: ActivityPoint) => number) =>
    times.map((time) => {
      const point = byTime.get(time)
      return point === undefined ? 0 : read(point)
    })
  const measured = (read: (point: ActivityPoint) => number | undefined) =>
    times.map((time) => {
      const point = byTime.get(time)
      return (point && read(point)) ?? null
    })
  const { lines } = names
  const memory: ChartData = {
    name: names.memory,
    unit: 'bytes',
    lines: [{ label: lines.memory, tone: 'accent', values: counts(({ memoryBytes }) => memoryBytes) }],
  }
  return {
    times,
    charts: [
      {
        name: names.requests,
        unit: 'count',
        sums: true,
        lines: [
          { label: lines.requests, tone: 'accent', values: counts(({ requests }) => requests) },
          {
            label: lines.failedRequests,
            tone: 'bad',
            values: counts(({ failedRequests }) => failedRequests),
          },
        ],
      },
      {
        name: names.deliveries,
        unit: 'count',
        sums: true,
        lines: [
          { label: lines.delivered, tone: 'good', values: counts(({ delivered }) => delivered) },
          { label: lines.failed, tone: 'bad', values: counts(({ failed }) => failed) },
        ],
      },
      {
        name: names.latency,
        unit: 'ms',
        lines: [
          { label: lines.requestP50, tone: 'good', values: measured(({ requestMs }) => requestMs.p50) },
          { label: lines.requestP99, tone: 'accent', values: measured(({ requestMs }) => requestMs.p99) },
          { label: lines.attemptP99, tone: 'warning', values: measured(({ attemptMs }) => attemptMs.p99) },
        ],
      },
      {
        name: names.backlog,
        unit: 'count',
        lines: [{ label: lines.jobs, tone: 'warning', values: counts(({ backlog }) => backlog) }],
      },
      {
        name: names.age,
        unit: 'seconds',
        lines: [
          { label: lines.oldest, tone: 'warning', values: counts(({ oldestSeconds }) => oldestSeconds) },
        ],
      },
      {
        name: names.cpu,
        unit: 'percent',
        lines: [{ label: lines.cpu, tone: 'accent', values: counts(({ cpuMs }) => (100 * cpuMs) / stepMs) }],
      },
      // Organizations share sandbox processes.
      ...(organization === null ? [memory] : []),
    ],
  }
}

/** The value of a line in the head of its chart. */
export function toHeadText(
  { values }: Line,
  { unit, sums }: Pick<ChartData, 'unit' | 'sums'>,
): string | undefined {
  const there = values.filter((value) => value !== null)
  const value = sums ? there.reduce((sum, one) => sum + one, 0) : there.at(-1)
  return value === undefined ? undefined : toShortText(value, unit)
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en', { maximumFractionDigits: 1, notation: 'compact' })
const fine = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 })

const ages = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const

/** A value with its unit, in the space that an axis has. */
export function toShortText(value: number, unit: Unit): string {
  switch (unit) {
    case 'ms':
      return value >= 1000 ? `${fine.format(value / 1000)} s` : `${fine.format(value)} ms`
    case 'seconds': {
      const [seconds, name] = ages.find(([least]) => value >= 2 * least) ?? [1, 's']
      return `${fine.format(value / seconds)} ${name}`
    }
    case 'bytes':
      return `${whole.format(value / 1_000_000)} MB`
    case 'percent':
      return `${fine.format(value)} %`
    case 'count':
      return value >= 10_000 ? short.format(value) : whole.format(value)
  }
}
