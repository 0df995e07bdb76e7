import type { Db } from '../db.ts'
import { createId } from '../ids.ts'

/** An install link of an integration. The key itself is not stored. */
export type InstallLink = { id: string; integration: string; hash: string; label: string; createdAt: number }

export async function insertInstallLink(
  db: Db,
  given: Pick<InstallLink, 'integration' | 'hash' | 'label'>,
): Promise<InstallLink> {
  const row = { id: createId('lnk'), ...given, createdAt: Date.now() }
  await db('installLinks').insert(row)
  return row
}

/** The newest first. */
export async function listInstallLinks(
  db: Db,
  { integration, before, limit }: { integration: string; before?: string; limit: number },
): Promise<InstallLink[]> {
  const query = db('installLinks').where({ integration }).orderBy('id', 'desc').limit(limit)
  return before === undefined ? query : query.where('id', '<', before)
}

export async function isInstallLink(db: Db, integration: string, hash: string): Promise<boolean> {
  return (await db('installLinks').where({ integration, hash }).first('id')) !== undefined
}

/** @returns the link as it was, undefined when it is not there or another request has deleted it */
export async function deleteInstallLink(
  transaction: Db,
  integration: string,
  id: string,
): Promise<InstallLink | undefined> {
  const link = await transaction('installLinks').where({ integration, id }).first()
  return (await transaction('installLinks').where({ integration, id }).delete()) === 1 ? link : undefined
}
