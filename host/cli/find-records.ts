import { AnnexError } from '../errors/annex-error.ts'
import { hintForName } from '../manifest/problems/nearest-name.ts'
import { quoteValue } from '../manifest/problems/visible-text.ts'
import { toPath } from './client.ts'
import type { List, Organization, Place } from './records.ts'
import type { Session } from './session.ts'

/**
 * The organization that a command is for: the named one (id or subdomain), else the only one that the token
 * sees, else the operator's own.
 *
 * @throws AnnexError `not_found`
 */
export async function findOrganization(
  { api, homeOrganization }: Pick<Session, 'api' | 'homeOrganization'>,
  named?: string,
): Promise<Organization> {
  const { items } = await api.get<List<Organization>>('/v1/orgs')
  const wanted = named ?? (items.length === 1 ? items[0]?.id : homeOrganization)
  const found = items.find(({ id, subdomain }) => id === wanted || subdomain === wanted)
  if (found !== undefined) return found
  const subdomains = items.map(({ subdomain }) => subdomain)
  throw new AnnexError(
    'not_found',
    `There is no organization ${quoteValue(wanted)} that this token may see; ${hintForName(wanted ?? '', subdomains, 'there are')}. Name one with --org.`,
  )
}

/**
 * A site or space of an organization. Without a name: the only one there is.
 *
 * @param named its id or its slug
 * @throws AnnexError `not_found`
 */
export async function findPlace(
  { api }: Pick<Session, 'api'>,
  organization: Organization,
  kind: 'site' | 'space',
  named?: string,
): Promise<Place> {
  const { items } = await api.get<List<Place>>(`${toPath`/v1/orgs/${organization.id}`}/${kind}s`)
  const [only, another] = items
  if (named === undefined && only !== undefined && another === undefined) return only
  const found = items.find(({ id, slug }) => id === named || slug === named)
  if (found !== undefined) return found
  const slugs = items.map(({ slug }) => slug)
  const what = named === undefined ? `no --${kind} was named` : `there is no ${kind} ${quoteValue(named)}`
  throw new AnnexError(
    'not_found',
    `In ${organization.subdomain} ${what}; ${hintForName(named ?? '', slugs, `its ${kind}s`)}.`,
  )
}
