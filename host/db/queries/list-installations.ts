import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import { eachPage, inPage, type PageAt } from '../page.ts'
import {
  type Installation,
  installationRows,
  type StoredInstallation,
  toInstallation,
} from './installations.ts'
import { levelsNamed } from './level-external-ids.ts'
import { listSpaceIdsOf } from './levels.ts'
import { type Reach, whereReached } from './reach.ts'

/** Installations that are not being uninstalled. */
const installed = (db: Db, where: { integration?: string; organizationId?: string }): Knex.QueryBuilder =>
  installationRows(db).where(where).whereNull('installations.removingAt')

/** `externalId`, `reach`: with `integration` alone. */
export type InstallationFilter = {
  integration?: string
  organizationId?: string
  externalId?: string
  reach?: Reach
  /** Those in each of these sites and spaces, by their ids. */
  places?: readonly string[]
}

/** The oldest first. */
export async function listInstallations(
  db: Db,
  { externalId, reach, places = [], ...where }: InstallationFilter,
  at: PageAt,
): Promise<Installation[]> {
  const query = installed(db, where)
  const { integration } = where
  if (externalId !== undefined && integration !== undefined) {
    const named = levelsNamed(db, { integration, kind: 'account', externalId })
    query.whereIn('id', named.select('installationId'))
  }
  if (reach !== undefined) whereReached(query, reach)
  for (const placeId of places)
    query.whereIn('id', db('levels').where({ placeId }).whereNull('removingAt').select('installationId'))
  const rows: StoredInstallation[] = await inPage(query, 'id', at)
  return rows.map((row) => toInstallation(db, row))
}

export type InstallationWithSpaces = Installation & { spaces: string[] }

/** As `listInstallations`, each with the ids of its spaces. */
export async function listInstallationsWithSpaces(
  db: Db,
  filter: InstallationFilter,
  at: PageAt,
): Promise<InstallationWithSpaces[]> {
  const found = await listInstallations(db, filter, at)
  const spaces = await listSpaceIdsOf(
    db,
    found.map(({ id }) => id),
  )
  return found.map((installation) => ({ ...installation, spaces: spaces.get(installation.id) ?? [] }))
}

const pageSize = 100

/** All installations of an integration or organization, read page by page. */
export async function* eachInstallation(
  db: Db,
  where: { integration: string } | { organizationId: string },
): AsyncGenerator<Installation> {
  const readPage = (last?: Installation) => listInstallations(db, where, { after: last?.id, limit: pageSize })
  for await (const page of eachPage(pageSize, readPage)) yield* page
}

/** The ids of all installations, or of those of an integration, page by page. */
export const eachIdPage = (db: Db, where: { integration?: string }): AsyncGenerator<string[]> =>
  eachPage(pageSize, (after?: string): Promise<string[]> => {
    const query = db('installations').where(where).whereNull('removingAt')
    return inPage(query, 'id', { after, limit: pageSize }).pluck('id')
  })

/** The installation of an integration in an organization. There is at most one. */
export async function findInstalled(
  db: Db,
  where: { integration: string; organizationId: string },
): Promise<Installation | undefined> {
  const row = await installed(db, where).first()
  return row && toInstallation(db, row)
}

export async function listInstallationIds(db: Db, integration: string): Promise<string[]> {
  return db('installations').where({ integration }).whereNull('removingAt').pluck('id')
}
