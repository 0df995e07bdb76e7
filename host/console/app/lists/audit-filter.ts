import { toSearch } from './address.ts'

/** The filter of the audit, as its address has it. An empty text: not filtered. */
export type AuditFilter = { action: string; subject: string; actor: string }

export const noAuditFilter: AuditFilter = { action: '', subject: '', actor: '' }

export function readAuditFilter(query: Readonly<Record<string, string>>): AuditFilter {
  const text = (name: string) => (query[name] ?? '').trim().slice(0, 200)
  return { action: text('action'), subject: text('subject'), actor: text('actor') }
}

export const writeAuditFilter = (filter: AuditFilter, page?: string): string => toSearch({ ...filter, page })

/** The filter as the API takes it. */
export const toAuditQuery = ({ action, subject, actor }: AuditFilter) => ({
  ...(action !== '' && { action }),
  ...(subject !== '' && { subject }),
  ...(actor !== '' && { actor }),
})
