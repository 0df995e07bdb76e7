import type { Db } from '../../db.ts'
import { createId } from '../../ids.ts'

export type Site = { id: string; organizationId: string; slug: string; title: string; createdAt: number }

export async function insertSite(
  db: Db,
  given: { organizationId: string; slug: string; title: string },
): Promise<Site | undefined> {
  const row = { id: createId('site'), ...given, createdAt: Date.now() }
  const [inserted] = await db('sites')
    .insert(row)
    .onConflict(['organizationId', 'slug'])
    .ignore()
    .returning('*')
  return inserted
}

export async function findSite(db: Db, id: string): Promise<Site | undefined> {
  return db('sites').where({ id }).first()
}

export async function listSites(db: Db, organizationId?: string): Promise<Site[]> {
  const query = db('sites').orderBy('createdAt')
  return organizationId === undefined ? query : query.where({ organizationId })
}
