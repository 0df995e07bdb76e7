import type { Versioned } from '../../../schemas/client.ts'
import type {
  Installation,
  SiteInstallation,
  SpaceInstallation,
} from '../../../schemas/generated/api/installations.ts'
import type { SettingsForm } from '../../../schemas/generated/api/settings-forms.ts'
import { api } from './api.ts'
import type { LevelName } from './level-address.ts'

export type Level = Installation | SiteInstallation | SpaceInstallation

/** A level as an edit of its settings answered it. */
export type EditedLevel = { level: Level; etag: string }

export const toEdited = ({ value, etag }: Versioned<Level>): EditedLevel => ({ level: value, etag })

/** A level as it was read: with its settings' ETag, its form, and the installation above it. */
export type ReadLevel = {
  name: LevelName
  account: Installation
  level: Level
  etag: string
  form: SettingsForm
}

const address = '/v1/integrations/{integration}/installations/{installation}'

/** Parameters of each operation of levels. */
export const paramsOf = ({ name: { installation, place }, account: { integration } }: ReadLevel) => ({
  integration,
  installation,
  ...(place && { [place.kind]: place.id }),
})

export async function readLevel(name: LevelName, signal?: AbortSignal): Promise<ReadLevel> {
  const { installation, place } = name
  const given = signal === undefined ? {} : { signal }
  const above = await api.read('GET /v1/installations/{installation}', { params: { installation }, ...given })
  const { integration } = above.value
  const params = { integration, installation, ...(place && { [place.kind]: place.id }) }
  const [own, form] = await Promise.all([
    place === undefined ? above : api.read(`GET ${address}`, { params, ...given }),
    api.call(`GET ${address}/configuration`, { params, ...given }),
  ])
  return { name, account: above.value, level: own.value as Level, etag: own.etag, form }
}
