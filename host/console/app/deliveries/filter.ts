import { toSearch } from '../lists/address.ts'
import { anyTime, readTimeRange, type TimeRange, toTimes } from '../lists/time-range.ts'

const states = ['pending', 'delivered', 'failed'] as const
export type State = (typeof states)[number]

/** The filter of the list, as its address has it. An empty text: not filtered. */
export type Filter = TimeRange & {
  state: State | ''
  type: string
  installation: string
  receiver: string
}

export const noFilter: Filter = { state: '', type: '', installation: '', receiver: '', ...anyTime }

/** Reads the filter of an address. What is not understood is no filter: addresses are typed by people. */
export function readFilter(query: Readonly<Record<string, string>>): Filter {
  const text = (name: string) => query[name]?.trim() ?? ''
  return {
    state: states.find((one) => one === query.state) ?? '',
    type: text('type'),
    installation: text('installation'),
    receiver: text('receiver'),
    ...readTimeRange(query),
  }
}

/** The query of an address, with its `?`. Empty without a filter. */
export const writeFilter = (filter: Filter, page?: string): string => toSearch({ ...filter, page })

export const isFiltered = (filter: Filter): boolean => writeFilter(filter) !== ''

/** The filter as the API takes it. */
export function toQuery({ state, type, installation, receiver, ...times }: Filter, nowMs: number) {
  return {
    ...(state !== '' && { state }),
    ...(type !== '' && { eventType: type }),
    ...(installation !== '' && { installation }),
    ...(receiver !== '' && { receiver }),
    ...toTimes(times, nowMs),
  }
}
