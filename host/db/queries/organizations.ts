import { toLowerName } from '../any-case.ts'
import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { inPage, type PageAt } from '../page.ts'
import { endMemberships } from './accounts.ts'
import { deleteExternalIds, recordsNamed } from './external-ids.ts'

export type Organization = { id: string; subdomain: string; title: string; createdAt: number }

export async function insertOrganization(
  db: Db,
  given: { subdomain: string; title: string },
): Promise<Organization | undefined> {
  const row = { id: createId('org'), ...given, createdAt: Date.now() }
  const [inserted] = await db('organizations').insert(row).onConflict('subdomain').ignore().returning('*')
  return inserted
}

/** @param name the organization's id or subdomain, else an external id, else its subdomain in another letter case */
export async function findOrganization(db: Db, name: string): Promise<Organization | undefined> {
  const found = await db('organizations').where({ id: name }).orWhere({ subdomain: name }).first()
  if (found !== undefined) return found
  const named = await db('organizations')
    .whereIn('id', recordsNamed(db, 'organization', name))
    .first()
  if (named !== undefined || name === toLowerName(name)) return named
  return db('organizations')
    .where({ subdomain: toLowerName(name) })
    .first()
}

/** The oldest first. `id`: that organization alone. */
export async function listOrganizations(db: Db, where: { id?: string }, at: PageAt): Promise<Organization[]> {
  return inPage(db('organizations').where(where), 'id', at)
}

/** The subdomains of organizations by their ids. */
export async function readSubdomains(db: Db, ids: ReadonlySet<string>): Promise<Map<string, string>> {
  if (ids.size === 0) return new Map()
  const rows = await db('organizations')
    .whereIn('id', [...ids])
    .select('id', 'subdomain')
  return new Map(rows.map(({ id, subdomain }) => [id, subdomain]))
}

export async function lockOrganization(transaction: Db, id: string): Promise<Organization | undefined> {
  return transaction('organizations').where({ id }).forUpdate().first()
}

/** @throws the database's error, `isDuplicate` when another organization has the subdomain */
export async function updateOrganization(
  transaction: Db,
  id: string,
  change: Partial<Pick<Organization, 'subdomain' | 'title'>>,
): Promise<void> {
  if (Object.keys(change).length > 0) await transaction('organizations').where({ id }).update(change)
}

/** The records that go with an organization. */
export type DeletedWith = { sites: number; spaces: number; members: number; tokens: number; events: number }

/** Deletes an organization that has no integration and no installation, with all of its records. */
export async function deleteOrganizationRows(transaction: Db, id: string): Promise<DeletedWith> {
  const own = (table: string) => transaction(table).where({ organizationId: id })
  for (const table of ['sites', 'spaces']) {
    await deleteExternalIds(transaction, await own(table).forUpdate().pluck('id'))
  }
  await deleteExternalIds(transaction, [id])
  // Rows of installations that have ended.
  await own('installations').delete()
  for (const table of ['pages', 'revisions']) {
    await transaction(table).whereIn('spaceId', own('spaces').select('id')).delete()
  }
  const members = await own('members').whereNotNull('accountId').select('accountId')
  const deleted = {
    tokens: await own('tokens').delete(),
    members: await own('members').delete(),
    sites: await own('sites').delete(),
    spaces: await own('spaces').delete(),
    events: await own('events').delete(),
  }
  await endMemberships(
    transaction,
    members.map(({ accountId }) => accountId),
  )
  await transaction('organizations').where({ id }).delete()
  return deleted
}
