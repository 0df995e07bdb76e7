import type { RuntimeContext } from '../context.ts'
import type { FlowState } from './flow-state.ts'
import type { ExtractedCredentials } from './oauth-config.ts'

type Stored = { configuration?: Record<string, unknown> }

/**
 * Writes credentials to the installation, site or space where the flow began. Without `replace` the settings
 * that are stored there now stay, as an update replaces all of them.
 */
export const storeCredentials = async (
  place: FlowState,
  credentials: ExtractedCredentials,
  options: { replace: boolean },
  context: RuntimeContext,
): Promise<void> => {
  const { read, write } = accessTo(place, context)
  const kept = options.replace ? {} : ((await read()).data.configuration ?? {})
  await write({
    ...credentials,
    ...(credentials.configuration && { configuration: { ...kept, ...credentials.configuration } }),
  })
}

const accessTo = (place: FlowState, context: RuntimeContext) => {
  const { integrations } = context.integration.api
  const { name } = context.environment.integration
  const { installationId, siteId, spaceId } = place
  if (siteId !== undefined) {
    return {
      read: (): Promise<{ data: Stored }> =>
        integrations.getIntegrationSiteInstallation(name, installationId, siteId),
      write: (body: ExtractedCredentials): Promise<unknown> =>
        integrations.updateIntegrationSiteInstallation(name, installationId, siteId, body),
    }
  }
  if (spaceId !== undefined) {
    return {
      read: (): Promise<{ data: Stored }> =>
        integrations.getIntegrationSpaceInstallation(name, installationId, spaceId),
      write: (body: ExtractedCredentials): Promise<unknown> =>
        integrations.updateIntegrationSpaceInstallation(name, installationId, spaceId, body),
    }
  }
  return {
    read: (): Promise<{ data: Stored }> => integrations.getIntegrationInstallationById(name, installationId),
    write: (body: ExtractedCredentials): Promise<unknown> =>
      integrations.updateIntegrationInstallation(name, installationId, body),
  }
}
