import { toSearch } from './address.ts'
import { anyTime, readTimeRange, type TimeRange, toSpan } from './time-range.ts'

/** The filter of the audit, as its address has it. An empty text: not filtered. */
export type AuditFilter = TimeRange & { action: string; subject: string; actor: string }

export const noAuditFilter: AuditFilter = { action: '', subject: '', actor: '', ...anyTime }

export function readAuditFilter(query: Readonly<Record<string, string>>): AuditFilter {
  const text = (name: string) => (query[name] ?? '').trim().slice(0, 200)
  return {
    action: text('action'),
    subject: text('subject'),
    actor: text('actor'),
    ...readTimeRange(query),
  }
}

export const writeAuditFilter = (filter: AuditFilter, page?: string): string => toSearch({ ...filter, page })

/** The filter as the API takes it. */
export const toAuditQuery = ({ action, subject, actor, ...times }: AuditFilter, nowMs: number) => ({
  ...(action !== '' && { action }),
  ...(subject !== '' && { subject }),
  ...(actor !== '' && { actor }),
  ...toSpan(times, nowMs),
})
