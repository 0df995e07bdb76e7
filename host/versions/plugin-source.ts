import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import type { Problem } from '../manifest/problem.ts'
import type { ReadOptions } from '../manifest/read-options.ts'
import type { TryLoad } from './try-version.ts'

/** What became of a plugin folder. */
export type LoadedPlugin = {
  folder: string
  name?: string
  version?: { number: number; digest: string }
  scopes: string[]
  /** `retired`: its folder is gone, or is another integration now. Said once, by the load that found it. */
  state: 'loaded' | 'failed' | 'retired'
  problems: Problem[]
  /** Of a retired one: why, and what it leaves behind. */
  note?: string
}

export type PluginSource = {
  db: Db
  box: SecretBox
  pluginsDir: string
  /** The place of this host (`placeOf`). */
  place: string
  /** Other hosts load integrations that are not in this one's folder. */
  hasOthers: boolean
  dataDir: string
  reading: ReadOptions
  tryLoad: TryLoad
}
