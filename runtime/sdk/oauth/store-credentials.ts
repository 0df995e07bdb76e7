import type { InstallationUpdate } from '../api/records.ts'
import type { RuntimeContext } from '../context.ts'
import type { FlowLevel } from './flow-state.ts'

type Stored = { configuration?: Record<string, unknown> }

/** What is stored for the installation, site or space now; the environment may be older. */
export const readStored = async (
  { installationId, siteId, spaceId }: FlowLevel,
  context: RuntimeContext,
): Promise<Record<string, unknown>> => {
  const { integrations } = context.integration.api
  const { name } = context.environment.integration
  const { data }: { data: Stored } =
    siteId !== undefined
      ? await integrations.getIntegrationSiteInstallation(name, installationId, siteId)
      : spaceId !== undefined
        ? await integrations.getIntegrationSpaceInstallation(name, installationId, spaceId)
        : await integrations.getIntegrationInstallationById(name, installationId)
  return data.configuration ?? {}
}

/** Writes credentials to the installation, site or space. @returns all that is stored there then */
export const storeCredentials = async (
  { installationId, siteId, spaceId }: FlowLevel,
  update: InstallationUpdate,
  context: RuntimeContext,
): Promise<Record<string, unknown>> => {
  const { integrations } = context.integration.api
  const { name } = context.environment.integration
  const { data }: { data: Stored } =
    siteId !== undefined
      ? await integrations.updateIntegrationSiteInstallation(name, installationId, siteId, update)
      : spaceId !== undefined
        ? await integrations.updateIntegrationSpaceInstallation(name, installationId, spaceId, update)
        : await integrations.updateIntegrationInstallation(name, installationId, update)
  return data?.configuration ?? {}
}
