import { type Api, toPath } from '../../client.ts'
import type { Installation, Integration, Place, TargetInstallation } from '../../records.ts'

/** An installation, or the site or space installation of it that a command is about. */
export type Level = { installation: Installation; place?: Place }

/** Which of a manifest's settings a level has. */
export const settingsOf = (integration: Integration, { place }: Pick<Level, 'place'>) =>
  integration.configurations[place?.object ?? 'account']

export function levelPath({ installation: { integration, id }, place }: Level): string {
  const base = toPath`/v1/integrations/${integration}/installations/${id}`
  return place === undefined ? base : `${base}/${place.object}s${toPath`/${place.id}`}`
}

export const readLevel = (api: Api, level: Level): Promise<Installation | TargetInstallation> =>
  api.get(levelPath(level))

/** For people: `site sample`, or `account` for the organization's own level. */
export const nameLevel = ({ place }: Pick<Level, 'place'>): string =>
  place === undefined ? 'account' : `${place.object} ${place.slug}`
