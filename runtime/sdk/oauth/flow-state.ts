import type { RuntimeEnvironment } from '../environment.ts'
import { ExposableError } from '../exposable-error.ts'

/** A level of an installation that credentials are stored for. */
export type FlowPlace = { installationId: string; spaceId?: string; siteId?: string }

/** Where a flow began, with the path there: a button has it as its `callback_url`. */
export type FlowState = FlowPlace & { path: string }

/** How long a provider's page may be left open before the flow has to be started again. */
const lifetimeMs = 10 * 60 * 1000

/** Where a flow begins that starts in this environment; `undefined` outside of an installation. */
export const flowPlaceOf = (environment: RuntimeEnvironment): FlowPlace | undefined => {
  const { installation, spaceInstallation, siteInstallation } = environment
  if (installation === undefined) return undefined
  return {
    installationId: installation.id,
    ...(spaceInstallation && { spaceId: spaceInstallation.space }),
    ...(siteInstallation && { siteId: siteInstallation.site }),
  }
}

/**
 * The `state` of a redirect to a provider: where the flow began and until when it counts, signed with the
 * integration's secret. With plain JSON an attacker could aim a code at another installation.
 */
export const sealFlowState = async (state: FlowState, environment: RuntimeEnvironment): Promise<string> => {
  const text = encodeURIComponent(JSON.stringify({ ...state, until: Date.now() + lifetimeMs }))
  return `${text}.${await sign(text, environment)}`
}

/** Reads `state` on the way back. Throws an ExposableError where it was not made here, or long ago. */
export const openFlowState = async (
  sealed: string | null,
  environment: RuntimeEnvironment,
): Promise<FlowState> => {
  const given = sealed ?? ''
  const text = given.slice(0, Math.max(0, given.lastIndexOf('.')))
  if (!isSame(given.slice(text.length + 1), await sign(text, environment))) {
    throw new ExposableError(
      'The parameter "state" is not of this integration. Start again from the settings.',
    )
  }
  const { until, ...state } = JSON.parse(decodeURIComponent(text)) as FlowState & { until: number }
  if (until > Date.now()) return state
  throw new ExposableError('The connection took too long. Start again from the settings.')
}

const sign = async (text: string, { signingSecrets }: RuntimeEnvironment): Promise<string> => {
  const encoder = new TextEncoder()
  const secret = encoder.encode(`oauth state ${signingSecrets.integration}`)
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** In constant time: how long it takes says nothing of where the two differ. */
const isSame = (one: string, other: string): boolean => {
  let difference = one.length ^ other.length
  for (let i = 0; i < other.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i)
  return difference === 0
}
