import { AnnexError } from '../../../errors/annex-error.ts'
import { findInstallationById } from '../../api/assert-there.ts'
import { assertName } from '../../client.ts'
import { findOrganization, findPlace } from '../../find-records.ts'
import type { Installation, List } from '../../records.ts'
import type { Session } from '../../session.ts'
import type { Level } from './installed-level.ts'

export type PlaceOptions = { org?: string; site?: string; space?: string }

/**
 * An installation by its id, or by the name of its integration in an organization.
 *
 * @throws AnnexError `not_found`; UsageError for what is neither
 */
export async function findInstallation(
  session: Session,
  idOrIntegration: string,
  { org }: PlaceOptions = {},
): Promise<Installation> {
  assertName(idOrIntegration)
  if (idOrIntegration.startsWith('inst_')) return findInstallationById(session.api, idOrIntegration)
  const organization = await findOrganization(session, org)
  const { items } = await session.api.get<List<Installation>>('/v1/installations', {
    organization: organization.id,
  })
  const found = items.find(({ integration }) => integration === idOrIntegration)
  if (found !== undefined) return found
  throw new AnnexError(
    'not_found',
    `${idOrIntegration} is not installed in ${organization.subdomain}. \`annex install ${idOrIntegration}\` installs it.`,
  )
}

/** The level that `--site` or `--space` name. @throws AnnexError `not_found` */
export async function findLevel(
  session: Session,
  installation: Installation,
  { site, space }: PlaceOptions,
): Promise<Level> {
  const kind = site !== undefined ? 'site' : 'space'
  const named = site ?? space
  if (named === undefined) return { installation }
  const organization = await findOrganization(session, installation.target.organization)
  return { installation, place: await findPlace(session, organization, kind, named) }
}
