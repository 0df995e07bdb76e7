import type { Answer, Versioned } from '../../../schemas/client.ts'
import type {
  Installation,
  SiteInstallation,
  SpaceInstallation,
} from '../../../schemas/generated/api/installations.ts'
import type { SettingsForm } from '../../../schemas/generated/api/settings-forms.ts'
import { api } from './api.ts'

/** An installation, or its site or space installation, as an address of the console names it. */
export type LevelName = { org: string; installation: string; place?: Place | undefined }
export type Place = { kind: 'site' | 'space'; id: string }

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

/** The address of a level in the console, with a tab. */
export function pathOf({ org, installation, place }: LevelName, tab = ''): string {
  const level = place === undefined ? '' : `/${place.kind}s/${place.id}`
  return `/orgs/${org}/installations/${installation}${level}${tab && `/${tab}`}`
}

/** What follows the installation in an address: a site or space, and a tab. */
export function parseRest(rest: string): { place?: Place; tab: string } {
  const [kind, id, ...more] = rest.split('/').filter((part) => part !== '')
  if ((kind === 'sites' || kind === 'spaces') && id !== undefined) {
    return { place: { kind: kind === 'sites' ? 'site' : 'space', id }, tab: more.join('/') }
  }
  return { tab: rest.replace(/^\/|\/$/g, '') }
}

export type Agreement = Answer<'GET /v1/integrations/{integration}/installations/{installation}/agreement'>
