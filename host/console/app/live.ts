import { useLayoutEffect, useRef } from 'preact/hooks'
import { followOrganization } from './feed/follow.ts'
import type { Change } from './feed/read-feed.ts'

/** The changes of a second are one reading. */
const gatherMs = 1_000
/** The feed does not tell of receivers that are paused, and of circuits. */
const everyMs = 15_000

/**
 * Reads again when deliveries of the organization have changed, and when the tab is shown again.
 *
 * @param concerns whether a change is one of what the page shows. Default: each is
 */
export function useLive(
  org: string,
  reload: () => void,
  concerns: (change: Change) => boolean = () => true,
): void {
  const latest = useRef({ reload, concerns })
  latest.current = { reload, concerns }
  useLayoutEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isMissed = false
    const read = () => {
      isMissed = false
      latest.current.reload()
      timer = setTimeout(() => {
        timer = undefined
        if (isMissed) read()
      }, gatherMs)
    }
    const hear = (changes: readonly Change[]) => {
      if (!changes.some((one) => isAnything(one) || latest.current.concerns(one))) return
      if (timer === undefined) read()
      else isMissed = true
    }
    const stop = followOrganization(org, hear)
    const every = setInterval(() => document.visibilityState === 'visible' && hear([{}]), everyMs)
    return () => {
      clearTimeout(timer)
      clearInterval(every)
      stop()
    }
  }, [org])
}

const isAnything = ({ delivery, receiver }: Change): boolean =>
  delivery === undefined && receiver === undefined
