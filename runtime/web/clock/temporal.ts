import { reflectApply } from '../primordials.ts'
import type { Clock } from './clock.ts'
import { replace, withNativeShape } from './native-shape.ts'

type Zoned = Record<'toPlainDateTime' | 'toPlainDate' | 'toPlainTime', () => unknown>
type Instant = { toZonedDateTimeISO(zone: unknown): Zoned }
type Temporal = {
  Now: { timeZoneId(): string }
  Instant: { prototype: Instant; fromEpochMilliseconds(ms: number): Instant }
  ZonedDateTime: { prototype: Zoned }
}

/**
 * Temporal.Now would be a clock of nanoseconds. V8 makes Temporal anew with each context, also of a snapshot, so this
 * is done at boot. A runtime without Temporal has nothing to change.
 */
export const installTemporalNow = (global: typeof globalThis, clock: Clock): void => {
  const { Temporal } = global as { Temporal?: Temporal }
  if (Temporal === undefined) return
  const { Now, Instant, ZonedDateTime } = Temporal
  const { timeZoneId } = Now
  const { fromEpochMilliseconds } = Instant
  const { toZonedDateTimeISO } = Instant.prototype
  const { toPlainDateTime, toPlainDate, toPlainTime } = ZonedDateTime.prototype

  const instant = (): Instant => reflectApply(fromEpochMilliseconds, Instant, [clock.now()]) as Instant
  const zoned = (zone: unknown): Zoned =>
    reflectApply(toZonedDateTimeISO, instant(), [
      zone === undefined ? reflectApply(timeZoneId, Now, []) : zone,
    ]) as Zoned
  const plain = (convert: () => unknown) => (zone: unknown) => reflectApply(convert, zoned(zone), [])

  const operations = {
    instant,
    zonedDateTimeISO: zoned,
    plainDateTimeISO: plain(toPlainDateTime),
    plainDateISO: plain(toPlainDate),
    plainTimeISO: plain(toPlainTime),
  }
  for (const [name, operation] of Object.entries(operations)) {
    replace(Now, name, withNativeShape(operation as () => unknown, name, 0))
  }
}
