import { computed, signal } from '@preact/signals'

/** Relative times follow this clock. */
const now = signal(Date.now())
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now()
}, 5_000)

const zoneKey = 'annex.timeZone'
/** Empty: that of the browser. */
export const timeZone = signal(localStorage.getItem(zoneKey) ?? '')
export function chooseTimeZone(zone: string): void {
  timeZone.value = zone
  localStorage.setItem(zoneKey, zone)
}

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

export function toRelative(atMs: number, nowMs: number): string {
  const seconds = Math.trunc((atMs - nowMs) / 1_000)
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const)
  return relative.format(Math.trunc(seconds / size), unit)
}

/** One for all times: to make a format takes longer than to draw a row. */
const format = computed(
  () =>
    new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'long',
      ...(timeZone.value !== '' && { timeZone: timeZone.value }),
    }),
)

/** In the time zone that the person has chosen. */
export const toExact = (atMs: number): string => format.value.format(atMs)

/** Relative, with the exact time on hover and focus. */
export function Time({ at }: { at: string }) {
  const atMs = Date.parse(at)
  const exact = toExact(atMs)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the exact time shows on focus, too
    <time dateTime={at} data-exact={exact} tabIndex={0} aria-description={exact}>
      {toRelative(atMs, Math.max(now.value, Date.now()))}
    </time>
  )
}
