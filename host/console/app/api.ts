import { createClient } from '../../../schemas/client.ts'
import { askPerson, hostState, me, organizationInAddress } from './state.ts'

/** The only way from the console to the host. */
export const api = createClient({ url: location.origin, fetch: send })

/** Requests name the organization of the page by it. An operator asks for all of Annex by an empty one. */
export const organizationHeader = 'annex-organization'

/** The host, or what is on the way to it, does not answer. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

/**
 * A session that has ended, and an operation that asks for a confirmation, wait for the person. Then the same request is sent
 * again: the page that sent it does not notice, and keeps what was typed.
 */
async function send(url: URL, init: RequestInit): Promise<Response> {
  const response = await reach(url, init)
  if (response.status === 401 && me.value && !isSignIn(url) && (await isSignedOut())) {
    await askPerson('sign-in')
    return send(url, init)
  }
  if (response.status === 403 && (await codeOf(response)) === 'confirmation_required') {
    if (await askPerson('confirm')) return send(url, init)
  }
  return response
}

async function reach(url: URL, init: RequestInit): Promise<Response> {
  // Who the person is does not depend on the page: an organization that they may not see would end the question with 404.
  const organization = url.pathname === '/v1/me' ? undefined : organizationInAddress()
  const headers = { ...(organization && { [organizationHeader]: organization }), ...init.headers }
  try {
    const response = await fetch(url, { ...init, headers })
    // A proxy in front answers so while the host is down.
    if (response.status === 502 || response.status === 504) throw new NoAnswerError()
    hostState.value = 'answers'
    return response
  } catch (error) {
    if (init.signal?.aborted) throw error
    hostState.value = 'silent'
    throw new NoAnswerError('', { cause: error })
  }
}

/** A link that has been used is refused with the same status as a session that has ended. */
async function isSignedOut(): Promise<boolean> {
  const answer = await fetch('/v1/me').catch(() => undefined)
  return answer?.status === 401
}

/** A wrong password is no session that has ended, and neither is a refused answer of the OpenID provider. */
const isSignIn = ({ pathname }: URL): boolean => ['/v1/sessions', '/v1/openid/callbacks'].includes(pathname)

async function codeOf(response: Response): Promise<unknown> {
  const body = await response
    .clone()
    .json()
    .catch(() => undefined)
  return body?.error?.code
}
