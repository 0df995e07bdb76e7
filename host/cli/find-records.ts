import { type Answer, type Client, isApiError, type Params } from '../../schemas/client.ts'
import type { Installation, ListedInstallation } from '../../schemas/generated/api/installations.ts'
import type { Organization } from '../../schemas/generated/api/organizations.ts'
import { isSameName } from '../db/any-case.ts'
import { AnnexError } from '../errors.ts'
import { hintForName, quoteValue } from '../manifest/message-text.ts'
import { assertName, readAll } from './client.ts'
import type { Integration, SiteOrSpace } from './records.ts'
import type { Session } from './session.ts'

/**
 * The organization of a command: the named one, else the only one that the token sees, else the operator's own.
 *
 * @param named its id, subdomain or an external id
 * @throws AnnexError `not_found`
 */
export async function findOrganization(
  { api, homeOrganization }: Pick<Session, 'api' | 'homeOrganization'>,
  named?: string,
): Promise<Organization> {
  const { items } = await readAll(api.all('GET /v1/orgs'))
  const wanted = named ?? (items.length === 1 ? items[0]?.id : homeOrganization)
  const found =
    items.find(({ id, subdomain }) => id === wanted || subdomain === wanted) ??
    items.find(({ externalIds }) => wanted !== undefined && externalIds.includes(wanted)) ??
    items.find(({ subdomain }) => wanted !== undefined && isSameName(subdomain, wanted))
  if (found !== undefined) return found
  const subdomains = items.map(({ subdomain }) => subdomain)
  throw new AnnexError(
    'not_found',
    `There is no organization ${quoteValue(wanted)} that this token may see; ${hintForName(wanted ?? '', subdomains, 'there are')}. Name one with --org.`,
  )
}

/**
 * A site or space of an organization. Without a name: its only site or space.
 *
 * @param named its id, slug or an external id
 * @throws AnnexError `not_found`
 */
export async function findSiteOrSpace(
  { api }: Pick<Session, 'api'>,
  organization: Organization,
  kind: 'site' | 'space',
  named?: string,
): Promise<SiteOrSpace> {
  const { items } = await readAll(listSitesOrSpaces(api, kind, organization.id))
  const [only, another] = items
  if (named === undefined && only !== undefined && another === undefined) return only
  const found =
    items.find(({ id, slug }) => id === named || slug === named) ??
    items.find(({ externalIds }) => named !== undefined && externalIds.includes(named)) ??
    items.find(({ slug }) => named !== undefined && isSameName(slug, named))
  if (found !== undefined) return found
  const slugs = items.map(({ slug }) => slug)
  const what = named === undefined ? `no --${kind} was named` : `there is no ${kind} ${quoteValue(named)}`
  throw new AnnexError(
    'not_found',
    `In ${organization.subdomain} ${what}; ${hintForName(named ?? '', slugs, `its ${kind}s`)}.`,
  )
}

export const listSitesOrSpaces = (
  api: Client,
  kind: 'site' | 'space',
  org: string,
): AsyncIterable<SiteOrSpace> =>
  kind === 'site'
    ? api.all('GET /v1/orgs/{org}/sites', { params: { org } })
    : api.all('GET /v1/orgs/{org}/spaces', { params: { org } })

type Filter = { integration?: string; installation?: string; receiver?: string }

/**
 * Asserts that the records of a filter exist. Without this check a wrong id gives an empty list, or endless waiting.
 *
 * @throws ApiError or AnnexError `not_found` that names the missing record
 */
export async function assertFilterExists(
  api: Client,
  { integration, installation, receiver }: Filter,
): Promise<void> {
  if (integration !== undefined) await readIntegration(api, integration)
  if (installation !== undefined) await findInstallationById(api, installation)
  if (receiver !== undefined) await api.call('GET /v1/receivers/{receiver}', { params: { receiver } })
}

/** Reads an integration. The API gives settings in the form that `Integration` names, and describes less of it. */
export const readIntegration = (
  api: Client,
  integration: string,
  query: { installKey?: string } = {},
): Promise<Integration> =>
  api.call('GET /v1/integrations/{integration}', {
    params: { integration },
    query,
  }) as Promise<Integration>

export const readInstallation = (api: Client, installation: string): Promise<Installation> =>
  api.call('GET /v1/installations/{installation}', { params: { installation } })

/** @throws AnnexError `not_found` */
async function findInstallationById(api: Client, id: string): Promise<Installation> {
  try {
    return await readInstallation(api, id)
  } catch (error) {
    if (!isApiError(error, 'not_found')) throw error
    const text = `There is no installation ${quoteValue(id)} that this token may see. \`npx annex installations\` shows all, with their ids.`
    throw new AnnexError('not_found', text)
  }
}

export type LevelOptions = { org?: string; site?: string; space?: string }

/**
 * An installation by its id, or by the name of its integration in an organization.
 *
 * @throws AnnexError `not_found`; UsageError for an empty text or a dot segment
 */
export async function findInstallation(
  session: Session,
  idOrIntegration: string,
  { org }: LevelOptions = {},
): Promise<Installation> {
  assertName(idOrIntegration)
  if (idOrIntegration.startsWith('inst_')) return findInstallationById(session.api, idOrIntegration)
  const organization = await findOrganization(session, org)
  const query = { organization: organization.id, integration: idOrIntegration }
  const { items } = await readAll(session.api.all('GET /v1/installations', { query }))
  const [found] = items
  if (found !== undefined) return findInstallationById(session.api, found.id)
  throw new AnnexError(
    'not_found',
    `${idOrIntegration} is not installed in ${organization.subdomain}. \`npx annex install ${idOrIntegration}\` installs it.`,
  )
}

/** The level that `--site` or `--space` names. @throws AnnexError `not_found` */
export async function findLevel(
  session: Session,
  installation: Installation,
  { site, space }: LevelOptions,
): Promise<InstalledLevel> {
  const kind = site !== undefined ? 'site' : 'space'
  const named = site ?? space
  if (named === undefined) return { installation }
  const organization = await findOrganization(session, installation.target.organization)
  return { installation, place: await findSiteOrSpace(session, organization, kind, named) }
}

/** A site or space where an integration is installed, or the installation in the organization itself. */
export type InstalledLevel = { installation: Installation; place?: SiteOrSpace }

/** The settings that a manifest declares for a level. */
export const settingsOf = (integration: Integration, { place }: Pick<InstalledLevel, 'place'>) =>
  integration.configurations[place?.object ?? 'account']

const levelAddress = 'GET /v1/integrations/{integration}/installations/{installation}'

export type LevelParams = Params<typeof levelAddress>
export type LevelRecord = Answer<typeof levelAddress>

/** A level, as the addresses of levels name it. */
export const paramsOf = ({
  installation: { integration, id },
  place,
}: {
  installation: ListedInstallation
  place?: SiteOrSpace
}): LevelParams => ({ integration, installation: id, ...(place && { [place.object]: place.id }) })

export const readLevel = (api: Client, params: LevelParams): Promise<LevelRecord> =>
  api.call(levelAddress, { params })

/** `site sample`, or `account` for the organization's own level. */
export const nameLevel = ({ place }: Pick<InstalledLevel, 'place'>): string =>
  place === undefined ? 'account' : `${place.object} ${place.slug}`
