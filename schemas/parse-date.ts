/**
 * A time as ISO 8601 has it, with or without a time of day, in Unix ms; NaN for what is none. Date.parse alone takes "7" for a
 * month of 2001, and 30 February for 2 March.
 */
export function parseDate(text: string): number {
  const [, month = '', day = '01'] = /^(\d{4}-\d{2})(?:-(\d{2}))?/.exec(text) ?? []
  const midnight = new Date(`${month}-${day}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return Number.NaN
  return Date.parse(text)
}
