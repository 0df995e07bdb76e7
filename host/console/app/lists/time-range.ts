const hour = 3_600_000
/** Periods up to now, in ms. */
export const periods = { hour, day: 24 * hour, week: 7 * 24 * hour } as const
export type Period = keyof typeof periods

/** The times of a filter, as an address has them: a period up to now, or two times. An empty text: no limit. */
export type TimeRange = {
  period: Period | ''
  after: string
  before: string
}

export const anyTime: TimeRange = { period: '', after: '', before: '' }

/** What is not understood is no limit: addresses are typed by people. */
export function readTimeRange(query: Readonly<Record<string, string>>): TimeRange {
  const text = (name: string) => query[name]?.trim() ?? ''
  const time = (name: string) => (Number.isNaN(Date.parse(text(name))) ? '' : text(name))
  return {
    period: Object.hasOwn(periods, text('period')) ? (text('period') as Period) : '',
    after: time('after'),
    before: time('before'),
  }
}

/** The two times as the API takes them. */
export function toTimes(
  { period, after, before }: TimeRange,
  nowMs: number,
): { after?: string; before?: string } {
  const from = period === '' ? after : new Date(nowMs - periods[period]).toISOString()
  return {
    ...(from !== '' && { after: new Date(from).toISOString() }),
    ...(period === '' && before !== '' && { before: new Date(before).toISOString() }),
  }
}

/** The same two times for a list that calls them `since` and `until`. */
export function toSpan(range: TimeRange, nowMs: number): { since?: string; until?: string } {
  const { after, before } = toTimes(range, nowMs)
  return { ...(after !== undefined && { since: after }), ...(before !== undefined && { until: before }) }
}
