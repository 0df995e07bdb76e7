import type { Db } from '../db/db.ts'
import { insertMoved } from '../db/queries/moved/import-rows.ts'
import { findOrganization, type Organization } from '../db/queries/records/organizations.ts'
import { findSite, listSites } from '../db/queries/records/sites.ts'
import { findSpace, listSpaces } from '../db/queries/records/spaces.ts'
import { toStorable } from '../db/rows/storable-text.ts'
import { AnnexError } from '../errors/annex-error.ts'
import type { OrganizationRecord, PlaceRecord } from './records.ts'

type Warn = (text: string) => void

/** The organization with that id, else with that subdomain: each Annex makes its own. Else a new one. */
export async function importOrganization(
  transaction: Db,
  { id, subdomain, title }: OrganizationRecord,
  warn: Warn,
): Promise<string> {
  const found: Organization | undefined =
    (await findOrganization(transaction, id)) ?? (await findOrganization(transaction, subdomain))
  if (found !== undefined) return found.id
  const name = await freeName(transaction, subdomain)
  const row = { id, subdomain: name, title: toStorable(title), createdAt: Date.now() }
  await insertMoved(transaction, 'organizations', [row])
  warn(`The organization ${subdomain} was not here, and was made${name === subdomain ? '' : ` as ${name}`}.`)
  return id
}

/** The same where it is one that the API takes: an operator's own comes from a setting, and may be any text. */
async function freeName(transaction: Db, subdomain: string): Promise<string> {
  const words = subdomain.toLowerCase().match(/[a-z0-9]+/g) ?? ['imported']
  const name = words.join('-').slice(0, 80).replace(/-$/, '')
  let free = name
  for (let number = 2; (await findOrganization(transaction, free)) !== undefined; number++) {
    free = `${name}-${number}`
  }
  return free
}

/**
 * The site or space with that id: addresses, events and receivers know it by that. Where it is not here it is made. A
 * space is a folder of this machine, which no file from elsewhere names: it shares that of the space with its slug.
 *
 * @throws AnnexError `conflict`
 */
export async function importPlace(
  transaction: Db,
  organizationId: string,
  { kind, id, slug, title }: PlaceRecord,
  warn: Warn,
): Promise<void> {
  const found = kind === 'site' ? await findSite(transaction, id) : await findSpace(transaction, id)
  if (found !== undefined && found.organizationId === organizationId) return
  if (found !== undefined) {
    throw new AnnexError('conflict', `The ${kind} ${id} is here, and belongs to another organization.`)
  }
  const sites = await listSites(transaction, organizationId)
  const spaces = await listSpaces(transaction, organizationId)
  const taken = new Set((kind === 'site' ? sites : spaces).map((place) => place.slug))
  const row = {
    id,
    organizationId,
    slug: freeSlug(slug, taken),
    title: toStorable(title),
    createdAt: Date.now(),
  }
  const named = row.slug === slug ? '' : ` It is called ${row.slug}, as there is another ${slug}.`
  if (kind === 'site') {
    await insertMoved(transaction, 'sites', [row])
    return warn(`The site ${slug} (${id}) was not here, and was made.${named}`)
  }
  const sameSlug = spaces.find((space) => space.slug === slug)
  if (sameSlug === undefined) {
    throw new AnnexError(
      'conflict',
      `The space ${slug} (${id}) is not here. A space is a folder: make one of that slug first, with \`annex spaces\`.`,
    )
  }
  await insertMoved(transaction, 'spaces', [{ ...row, folder: sameSlug.folder }])
  warn(`The space ${slug} (${id}) was not here, and was made with the folder ${sameSlug.folder}.${named}`)
}

function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  let free = slug
  for (let number = 2; taken.has(free); number++) free = `${slug}-${number}`
  return free
}
