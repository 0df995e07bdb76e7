import type { RuntimeEnvironment } from '../environment.ts'
import { ExposableError } from '../exposable-error.ts'

/** A level of an installation that credentials are stored for. */
export type FlowLevel = { installationId: string; spaceId?: string; siteId?: string }

/** The level of this environment; `undefined` outside of an installation. */
export const flowLevelOf = (environment: RuntimeEnvironment): FlowLevel | undefined => {
  const { installation, spaceInstallation, siteInstallation } = environment
  if (installation === undefined) return undefined
  return {
    installationId: installation.id,
    ...(spaceInstallation && { spaceId: spaceInstallation.space }),
    ...(siteInstallation && { siteId: siteInstallation.site }),
  }
}

/**
 * The beginning of the handler's `state`. The host refuses a flow with it that it does not guard. `guard-flows.ts` has
 * the same text.
 */
const connectionState = 'annex:connection:'

/** What the second half of a flow needs of the first: the verifier of PKCE (RFC 7636). */
export type FlowState = { verifier?: string }

/** The host keeps this text and sends a one-time value in its place: no provider and no browser sees it. */
export const toStateText = (state: FlowState): string => connectionState + JSON.stringify(state)

/** Reads the state that the host has put back. Throws an ExposableError where it has not. */
export const parseStateText = (text: string | null): FlowState => {
  if (text?.startsWith(connectionState)) return JSON.parse(text.slice(connectionState.length)) as FlowState
  throw new ExposableError('The connection did not begin here. Start it from the settings.')
}

/** A new verifier, and its challenge by the method S256. */
export const createVerifier = async (): Promise<{ verifier: string; challenge: string }> => {
  const verifier = toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return { verifier, challenge: toBase64Url(new Uint8Array(digest)) }
}

const toBase64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
