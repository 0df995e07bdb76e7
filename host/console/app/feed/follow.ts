import { isApiError } from '../../../../schemas/client.ts'
import { type Change, readFeed } from './read-feed.ts'

export type Listener = (changes: readonly Change[]) => void

const pollMs = 5_000
const retryMs = 1_000

/**
 * Tells what changes in the deliveries of an organization. All tabs of a browser share one stream: the tab that holds a lock
 * reads the feed, and tells the others. A hidden tab lets go of both, and may have missed anything when it is shown again.
 *
 * @returns a function that ends it
 */
export function followOrganization(organization: string, listener: Listener): () => void {
  let stop: AbortController | undefined
  let wasHidden = false
  const toggle = () => {
    if (document.visibilityState !== 'visible') {
      stop?.abort()
      stop = undefined
      wasHidden = true
    } else if (stop === undefined) {
      stop = new AbortController()
      if (wasHidden) listener([{}])
      share(organization, listener, stop.signal)
    }
  }
  toggle()
  document.addEventListener('visibilitychange', toggle)
  return () => {
    document.removeEventListener('visibilitychange', toggle)
    stop?.abort()
  }
}

/** Browsers have locks on https and localhost alone. Elsewhere each tab polls. */
function share(organization: string, listener: Listener, signal: AbortSignal): void {
  if (navigator.locks === undefined || typeof BroadcastChannel === 'undefined') {
    return void poll(() => listener([{}]), signal)
  }
  const name = `annex feed ${organization}`
  const channel = new BroadcastChannel(name)
  channel.onmessage = ({ data }: MessageEvent<readonly Change[]>) => listener(data)
  signal.addEventListener('abort', () => channel.close())
  const tell = (changes: readonly Change[]) => {
    if (signal.aborted) return
    listener(changes)
    channel.postMessage(changes)
  }
  navigator.locks.request(name, { signal }, () => lead(organization, tell, signal)).catch(() => {})
}

/** Reads the feed again and again. A reader that is refused polls in the place of all tabs, and asks again each time. */
async function lead(organization: string, tell: Listener, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await readFeed(organization, tell, signal)
      await sleep(retryMs, signal)
    } catch (error) {
      if (signal.aborted || isFinal(error)) return
      await sleep(pollMs, signal)
      // Without an answer of the host there is nothing to read again.
      if (isApiError(error)) tell([{}])
    }
  }
}

/** The person may not see this organization. */
const isFinal = (error: unknown): boolean => isApiError(error) && error.status < 500 && error.status !== 429

async function poll(act: () => void, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(pollMs, signal)
    if (signal.aborted) return
    act()
  }
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
