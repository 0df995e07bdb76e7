import type { OpenidPurpose } from '../../../schemas/generated/api/accounts.ts'
import { api } from './api.ts'

/** The page to which the provider leads back. */
export const callbackPath = '/sign-in/openid'

/** Own pages alone have this channel: endpoints have another URL origin. */
const channelName = 'annex.openid'
/** In the tab alone. `next` is a path. */
const keys = { next: 'annex.openid.next', beside: 'annex.openid.beside' }

/** Leads this tab to the provider. It comes back to `next`. */
export async function leaveForProvider(purpose: OpenidPurpose, next: string): Promise<void> {
  const { url } = await api.call('POST /v1/openid/flows', { body: { purpose } })
  sessionStorage.setItem(keys.next, next)
  sessionStorage.removeItem(keys.beside)
  location.assign(url)
}

/** The same in a tab beside the page that waits. */
export async function leaveBeside(purpose: OpenidPurpose): Promise<void> {
  const { url } = await api.call('POST /v1/openid/flows', { body: { purpose } })
  sessionStorage.setItem(keys.beside, 'true')
  // No step back: a tab with one page may close itself.
  location.replace(url)
}

/** What this tab left for, once. */
export function takeLeft(): { next: string | undefined; isBeside: boolean } {
  const left = {
    next: sessionStorage.getItem(keys.next) ?? undefined,
    isBeside: sessionStorage.getItem(keys.beside) !== null,
  }
  for (const key of Object.values(keys)) sessionStorage.removeItem(key)
  return left
}

/** Tells the page that waits, in another tab. */
export function tellDone(): void {
  const channel = new BroadcastChannel(channelName)
  channel.postMessage('done')
  channel.close()
}

/** @returns ends the wait */
export function waitForDone(onDone: () => void): () => void {
  const channel = new BroadcastChannel(channelName)
  channel.onmessage = onDone
  return () => channel.close()
}
