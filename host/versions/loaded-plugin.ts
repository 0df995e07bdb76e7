import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import type { Problem } from '../manifest/problem.ts'
import type { ReadOptions } from '../manifest/read-options.ts'
import type { TryLoad } from './try-version.ts'

/** The result of loading a plugin folder. */
export type LoadedPlugin = {
  folder: string
  name?: string
  version?: { number: number; digest: string }
  scopes: string[]
  /** `retired`: the folder is gone or holds another integration. Only the load that notices it reports it. */
  state: 'loaded' | 'failed' | 'retired'
  problems: Problem[]
  /** The reason of a retirement with the installations that remain, or the version that is pinned. */
  note?: string
}

export type PluginSource = {
  db: Db
  box: SecretBox
  pluginsDir: string
  /** `PLUGINS_DIR` is not set. */
  isDefaultDir: boolean
  /** From `hostIdentity`. */
  hostId: string
  /** Other hosts load integrations from their own folders. */
  hasOthers: boolean
  dataDir: string
  reading: ReadOptions
  tryLoad: TryLoad
}
