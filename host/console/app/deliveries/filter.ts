const states = ['pending', 'delivered', 'failed'] as const
export type State = (typeof states)[number]
const hour = 3_600_000
/** Periods up to now, in ms. */
export const periods = { hour, day: 24 * hour, week: 7 * 24 * hour } as const
export type Period = keyof typeof periods

/** The filter of the list, as its address has it. An empty text: not filtered. */
export type Filter = {
  state: State | ''
  type: string
  installation: string
  receiver: string
  period: Period | ''
  /** Times, as a field of a form has them. */
  after: string
  before: string
}

export const noFilter: Filter = {
  ...{ state: '', type: '', installation: '', receiver: '', period: '', after: '', before: '' },
}

/** Reads the filter of an address. What is not understood is no filter: addresses are typed by people. */
export function readFilter(query: Readonly<Record<string, string>>): Filter {
  const text = (name: string) => query[name]?.trim() ?? ''
  const time = (name: string) => (Number.isNaN(Date.parse(text(name))) ? '' : text(name))
  return {
    state: states.find((one) => one === query.state) ?? '',
    type: text('type'),
    installation: text('installation'),
    receiver: text('receiver'),
    period: Object.hasOwn(periods, text('period')) ? (text('period') as Period) : '',
    after: time('after'),
    before: time('before'),
  }
}

/** The query of an address, with its `?`. Empty without a filter. */
export function writeFilter(filter: Filter, page?: string): string {
  const entries = Object.entries({ ...filter, page: page ?? '' }).filter(([, value]) => value !== '')
  const text = new URLSearchParams(entries).toString()
  return text === '' ? '' : `?${text}`
}

export const isFiltered = (filter: Filter): boolean => writeFilter(filter) !== ''

/** The filter as the API takes it. */
export function toQuery(
  { state, type, installation, receiver, period, after, before }: Filter,
  nowMs: number,
) {
  const from = period === '' ? after : new Date(nowMs - periods[period]).toISOString()
  return {
    ...(state !== '' && { state }),
    ...(type !== '' && { eventType: type }),
    ...(installation !== '' && { installation }),
    ...(receiver !== '' && { receiver }),
    ...(from !== '' && { after: new Date(from).toISOString() }),
    ...(period === '' && before !== '' && { before: new Date(before).toISOString() }),
  }
}
