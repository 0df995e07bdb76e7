import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { LoadedSettings } from '../config/load-settings.ts'
import { AnnexError } from '../errors.ts'
import { listOwnFiles, type OwnFiles } from '../manifest/read-inside.ts'
import { type ManifestReading, readManifest } from '../manifest/read-manifest.ts'
import type { ReadOptions } from '../manifest/read-options.ts'
import { checkUniqueNames } from '../versions/names-and-owners.ts'
import { listPluginFolders } from '../versions/plugins-dir.ts'

export type ReadFolder = ManifestReading & { ownFiles: OwnFiles }

/**
 * Reads the manifests of the named plugin folders, or of all in PLUGINS_DIR. It needs no server.
 *
 * @throws AnnexError `not_found` for a missing folder, and for a PLUGINS_DIR without folders; `settings_invalid` for a
 *   PLUGINS_DIR that cannot be read
 */
export async function readPluginFolders(loaded: LoadedSettings, named: string[]): Promise<ReadFolder[]> {
  const { settings, sources } = loaded
  for (const folder of named) assertFolder(folder)
  const folders =
    named.length > 0
      ? named
      : await listPluginFolders({
          path: settings.PLUGINS_DIR,
          isDefault: sources.PLUGINS_DIR === 'default',
        })
  if (folders.length === 0) {
    throw new AnnexError(
      'not_found',
      `There is no plugin folder in ${settings.PLUGINS_DIR}. Name one, or set PLUGINS_DIR.`,
    )
  }
  const ownFiles = await listOwnFiles(settings.DATA_DIR, settings.PLUGINS_DIR)
  const options = { ...toReadOptions(loaded), ownFiles }
  const readings = await Promise.all(folders.map((folder) => readManifest(folder, options)))
  return checkUniqueNames(readings).map((reading) => ({ ...reading, ownFiles }))
}

const toReadOptions = ({ settings, variables }: LoadedSettings): ReadOptions => ({
  operatorOrganization: settings.OPERATOR_ORGANIZATION,
  environment: variables,
  isWithoutServer: true,
})

function assertFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  const what = found === undefined ? 'is not there' : 'is no folder'
  const meant = found?.isFile() ? dirname(folder) : undefined
  const hint = meant === undefined ? 'a folder that holds a service-manifest.yaml' : `its folder: ${meant}`
  throw new AnnexError('not_found', `${folder} ${what}. Name ${hint}.`)
}
