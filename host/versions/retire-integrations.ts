import { basename, join } from 'node:path'
import { systemOrigin } from '../access/actor.ts'
import { type IntegrationRow, listIntegrations, retireIntegration } from '../db/queries/integrations.ts'
import { listInstallationIds } from '../db/queries/list-installations.ts'
import { transact } from '../db/sql.ts'
import { recordAudit } from '../logs/audit.ts'
import type { LoadedPlugin, PluginSource } from './loaded-plugin.ts'

/**
 * Ends integrations whose plugin folder is gone or holds another integration. A folder with errors retires nothing: its
 * integration keeps its version.
 */
export async function retireIntegrations(
  { db, hostId, hasOthers, pluginsDir }: PluginSource,
  loaded: readonly LoadedPlugin[],
): Promise<LoadedPlugin[]> {
  const retired: LoadedPlugin[] = []
  for (const row of await listIntegrations(db)) {
    // Another host may have it in its own plugins folder.
    const isOurs = !hasOthers || row.loadedBy === hostId
    const why = whyRetired(row, loaded)
    if (row.versionId === null || !isOurs || why === undefined) continue
    await transact(db, async (transaction) => {
      await retireIntegration(transaction, row.name)
      await recordAudit(transaction, systemOrigin, {
        action: 'integration.retire',
        organizationId: row.organizationId,
        subject: { kind: 'integration', id: row.name },
      })
    })
    const { length } = await listInstallationIds(db, row.name)
    const note = `${why}. ${toRemains(row.name, length)}`
    const folder = join(pluginsDir, row.folder)
    retired.push({ folder, name: row.name, scopes: [], state: 'retired', problems: [], note })
  }
  return retired
}

function whyRetired({ name, folder }: IntegrationRow, loaded: readonly LoadedPlugin[]): string | undefined {
  const now = loaded.find((plugin) => basename(plugin.folder) === folder)
  if (now === undefined) return 'Its folder is gone'
  return now.state === 'loaded' && now.name !== name ? `Its folder holds "${now.name}" now` : undefined
}

function toRemains(name: string, installations: number): string {
  if (installations === 0) return 'It has no installations.'
  const count = installations === 1 ? 'Its installation stays' : `Its ${installations} installations stay`
  return `${count}, with settings and secrets: a folder with the name "${name}" serves them again.`
}
