import { toSearch } from './address.ts'
import { anyTime, readTimeRange, type TimeRange, toSpan } from './time-range.ts'

export const levels = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof levels)[number]

/** The filter of the log, as its address has it. An empty text: not filtered. */
export type LogFilter = TimeRange & {
  level: LogLevel | ''
  text: string
  installation: string
}

export const noLogFilter: LogFilter = { level: '', text: '', installation: '', ...anyTime }

export const readLogFilter = (query: Readonly<Record<string, string>>): LogFilter => ({
  level: levels.find((one) => one === query.level) ?? '',
  text: (query.text ?? '').slice(0, 200),
  installation: query.installation?.trim() ?? '',
  ...readTimeRange(query),
})

export const writeLogFilter = (filter: LogFilter, page?: string): string => toSearch({ ...filter, page })

/** The filter as the API takes it. The id of a request finds the lines of its dispatch. */
export function toLogQuery({ level, text, installation, ...times }: LogFilter, nowMs: number) {
  const isRequest = /^req_[\w-]+$/.test(text.trim())
  return {
    ...(level !== '' && { level }),
    ...(text !== '' && (isRequest ? { request: text.trim() } : { text })),
    ...(installation !== '' && { installation }),
    ...toSpan(times, nowMs),
  }
}
