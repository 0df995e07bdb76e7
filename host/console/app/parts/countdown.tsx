import { useEffect, useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { Time } from './time.tsx'

const mostMs = 60_000

/** The seconds to a time, one by one in the last minute. A screen reader is not told of each. */
export function Countdown({ to }: { to: string }) {
  const leftMs = Date.parse(to) - Date.now()
  const [, setTurn] = useState(0)
  const isNear = leftMs < mostMs
  useEffect(() => {
    if (!isNear) return
    const timer = setInterval(() => setTurn((turn) => turn + 1), 500)
    return () => clearInterval(timer)
  }, [isNear])
  if (!isNear) return <Time at={to} />
  const seconds = Math.ceil(leftMs / 1_000)
  return <span class="countdown">{seconds > 0 ? texts.delivery.in(seconds) : texts.delivery.now}</span>
}
