import { basename, join } from 'node:path'
import { listInstallations } from '../db/queries/installed/installations.ts'
import { type IntegrationRow, listIntegrations, setIntegrationVersion } from '../db/queries/integrations.ts'
import type { LoadedPlugin, PluginSource } from './plugin-source.ts'

/**
 * Takes integrations out of service whose plugin folder is gone, or is now another integration. A folder with errors
 * keeps its name: its integration goes on with the version that it has.
 *
 * @param loaded the plugin folders that are there
 */
export async function retireIntegrations(
  { db, place, hasOthers, pluginsDir }: PluginSource,
  loaded: readonly LoadedPlugin[],
): Promise<LoadedPlugin[]> {
  const retired: LoadedPlugin[] = []
  for (const row of await listIntegrations(db)) {
    // Another host may have loaded it from a folder of its own.
    const isOurs = !hasOthers || row.loadedBy === place
    const why = whyRetired(row, loaded)
    if (row.versionId === null || !isOurs || why === undefined) continue
    await setIntegrationVersion(db, row.name, null)
    const { length } = await listInstallations(db, { integration: row.name })
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
