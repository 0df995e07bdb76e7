/** Below it a number is a lifetime in seconds: as a time it would be before 2001. */
const firstTimeSeconds = 1e9
/** Above it a number is a time in milliseconds: in seconds it would be after the year 5000. */
const firstTimeMs = 1e11
/** The largest time of a Date. */
const lastTimeMs = 8.64e15

/**
 * When an access token expires, in milliseconds since 1970. Providers say it in `expires_in` (RFC 6749), and in `expires_at`
 * or `expires`: as a number or a text, of seconds or milliseconds, a lifetime or a date.
 *
 * @returns undefined where the answer does not say it
 */
export const expiryOf = (answer: Record<string, unknown>, now: number): number | undefined => {
  const seconds = toNumber(answer.expires_in)
  const lifetime = seconds === undefined ? undefined : toTime(now + seconds * 1000)
  return lifetime ?? endOf(answer.expires_at, now) ?? endOf(answer.expires, now)
}

/** As `expiryOf`, for one field. */
export const endOf = (value: unknown, now: number): number | undefined => {
  const number = toNumber(value)
  if (number === undefined) return typeof value === 'string' ? toTime(Date.parse(value)) : undefined
  if (number < firstTimeSeconds) return toTime(now + number * 1000)
  return toTime(number < firstTimeMs ? number * 1000 : number)
}

const toNumber = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value >= 0 ? value : undefined
  return typeof value === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined
}

const toTime = (ms: number): number | undefined => (ms <= lastTimeMs ? Math.floor(ms) : undefined)
