import type { Db } from '../db.ts'
import { createId } from '../ids.ts'

export type Organization = { id: string; subdomain: string; title: string; createdAt: number }

export async function insertOrganization(
  db: Db,
  given: { subdomain: string; title: string },
): Promise<Organization | undefined> {
  const row = { id: createId('org'), ...given, createdAt: Date.now() }
  const [inserted] = await db('organizations').insert(row).onConflict('subdomain').ignore().returning('*')
  return inserted
}

/** @param name the organization's id or subdomain: a manifest may have either */
export async function findOrganization(db: Db, name: string): Promise<Organization | undefined> {
  return db('organizations').where({ id: name }).orWhere({ subdomain: name }).first()
}

export async function listOrganizations(db: Db): Promise<Organization[]> {
  return db('organizations').orderBy('createdAt')
}
