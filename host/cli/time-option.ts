import { InvalidArgumentError } from 'commander'
import { parseDate } from '../../schemas/parse-date.ts'

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * A time on the command line: how long ago (`90s`, `30m`, `2h`, `7d`), or a date with or without a time. Anything else
 * is wrong usage.
 *
 * @returns the time as ISO 8601 has it
 */
export function parseTime(text: string): string {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ms = count === undefined ? parseDate(text) : Date.now() - Number(count) * (unitMs[unit] ?? 0)
  if (!Number.isNaN(ms)) return new Date(ms).toISOString()
  throw new InvalidArgumentError('It must be a time (2026-01-31T12:00Z), or how long ago (30m, 2h, 7d).')
}
