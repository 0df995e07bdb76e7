import type { RuntimeEnvironment } from '../environment.ts'
import { ExposableError } from '../exposable-error.ts'

/**
 * Where a flow began. It is what our `state` says; on the wire the host replaces it by a one-time value that is
 * bound to the installation and the browser, and puts it back on the way in.
 */
export type FlowState = { installationId: string; spaceId?: string; siteId?: string }

/** Where a flow begins that starts in this environment; `undefined` outside of an installation. */
export const flowStateOf = (environment: RuntimeEnvironment): FlowState | undefined => {
  const { installation, spaceInstallation, siteInstallation } = environment
  if (installation === undefined) return undefined
  return {
    installationId: installation.id,
    ...(spaceInstallation && { spaceId: spaceInstallation.space }),
    ...(siteInstallation && { siteId: siteInstallation.site }),
  }
}

/** Parses `state`. Throws an ExposableError where it names no installation. */
export const parseFlowState = (text: string | null): FlowState => {
  const state = parse(text ?? '') as Partial<Record<keyof FlowState, unknown>> | null
  if (typeof state?.installationId !== 'string') {
    throw new ExposableError('The parameter "state" names no installation. Start again from the settings.')
  }
  return {
    installationId: state.installationId,
    ...(typeof state.spaceId === 'string' ? { spaceId: state.spaceId } : {}),
    ...(typeof state.siteId === 'string' ? { siteId: state.siteId } : {}),
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
