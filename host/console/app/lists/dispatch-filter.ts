import { toSearch } from './address.ts'
import { readTimeRange, type TimeRange, toSpan } from './time-range.ts'

const names = ['outcome', 'type', 'installation', 'event'] as const

/** The filter of the dispatches, as its address has it. An empty text: not filtered. */
export type DispatchFilter = TimeRange & Record<(typeof names)[number], string>

export function readDispatchFilter(query: Readonly<Record<string, string>>): DispatchFilter {
  const text = (name: (typeof names)[number]) => query[name]?.trim() ?? ''
  return {
    outcome: text('outcome'),
    type: text('type'),
    installation: text('installation'),
    event: text('event'),
    ...readTimeRange(query),
  }
}

export const writeDispatchFilter = (filter: DispatchFilter, page?: string): string =>
  toSearch({ ...filter, page })

/** The filter as the API takes it. */
export const toDispatchQuery = (filter: DispatchFilter, nowMs: number) => ({
  ...Object.fromEntries(names.flatMap((name) => (filter[name] === '' ? [] : [[name, filter[name]]]))),
  ...toSpan(filter, nowMs),
})
