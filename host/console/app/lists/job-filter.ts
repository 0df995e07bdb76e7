import { toSearch } from './address.ts'
import { readTimeRange, type TimeRange, toSpan } from './time-range.ts'

export const kinds = ['event', 'task'] as const
export const states = ['failed', 'due', 'running', 'waiting'] as const

/** The filter of failed and pending work, as its address has it. An empty text: not filtered. */
export type JobFilter = TimeRange & {
  state: (typeof states)[number]
  kind: (typeof kinds)[number] | ''
  installation: string
}

export const readJobFilter = (query: Readonly<Record<string, string>>): JobFilter => ({
  state: states.find((one) => one === query.state) ?? 'failed',
  kind: kinds.find((one) => one === query.kind) ?? '',
  installation: query.installation?.trim() ?? '',
  ...readTimeRange(query),
})

export const writeJobFilter = ({ state, ...filter }: JobFilter, page?: string): string =>
  toSearch({ state: state === 'failed' ? '' : state, ...filter, page })

/** The filter as the API takes it. */
export const toJobQuery = ({ state, kind, installation, ...times }: JobFilter, nowMs: number) => ({
  state,
  ...(kind !== '' && { kind }),
  ...(installation !== '' && { installation }),
  ...toSpan(times, nowMs),
})
