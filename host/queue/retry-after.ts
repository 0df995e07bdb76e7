/**
 * Parses a Retry-After header (RFC 9110 section 10.2.3): seconds, or a date in one of HTTP's three formats. A receiver may
 * send any text: `Date.parse` alone would read "1" as a year.
 *
 * @returns the wait in ms, 0 for a past date, `undefined` for an invalid header
 */
export function parseRetryAfter(header: string, nowMs: number): number | undefined {
  const text = header.trim()
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  const dateMs = parseHttpDate(text)
  return dateMs === undefined ? undefined : Math.max(0, dateMs - nowMs)
}

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
const rfc850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

function parseHttpDate(text: string): number | undefined {
  // The asctime form has no zone and means GMT; Date.parse would take it for local time.
  const dated = asctime.test(text) ? `${text} GMT` : text
  if (dated === text && !imfFixdate.test(text) && !rfc850.test(text)) return undefined
  const ms = Date.parse(dated)
  return Number.isNaN(ms) ? undefined : ms
}
