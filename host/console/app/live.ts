import { useEffect, useRef } from 'preact/hooks'
import { followOrganization } from './feed/follow.ts'

/** Without ids anything may have changed. */
export type Change = { delivery?: string; receiver?: string }

/** The changes of a second are one reading. */
const gatherMs = 1_000

/**
 * Reads again when deliveries of the organization have changed, and when the tab is shown again.
 *
 * @param concerns whether a change is one of what the page shows. Default: each is
 */
export function useLive(org: string, reload: () => void, concerns?: (change: Change) => boolean): void {
  const latest = useRef({ reload, concerns })
  latest.current = { reload, concerns }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = followOrganization(org, (changes) => {
      const { concerns } = latest.current
      if (timer !== undefined || !(concerns === undefined || changes.some(concerns))) return
      // The first change shows at once, and others share a reading.
      latest.current.reload()
      timer = setTimeout(() => {
        timer = undefined
      }, gatherMs)
    })
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [org])
}
