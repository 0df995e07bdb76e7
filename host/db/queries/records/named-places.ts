import type { Db } from '../../db.ts'
import type { TargetKind } from '../installed/installation-targets.ts'
import type { Site } from './sites.ts'
import type { Space } from './spaces.ts'

export type Places = { site: Site; space: Space }

/** No slug has an underscore, as every id has: a name is one or the other. */
const columnOf = (name: string): 'id' | 'slug' => (name.includes('_') ? 'id' : 'slug')

/** A site or space of an organization, by its id or slug. */
export async function findPlace<Kind extends TargetKind>(
  db: Db,
  kind: Kind,
  organizationId: string,
  name: string,
): Promise<Places[Kind] | undefined> {
  return db(`${kind}s`)
    .where({ organizationId, [columnOf(name)]: name })
    .first()
}

/** Whose sites or spaces are looked through; undefined: all. */
export type PlaceOwner = { organizationId?: string; integration?: string; installationId?: string }

/** Sites or spaces of an id or slug, in an organization or where a script is installed. At most two: a slug may be there often. */
export async function findPlacesOf<Kind extends TargetKind>(
  db: Db,
  kind: Kind,
  name: string,
  { organizationId, integration, installationId }: PlaceOwner,
): Promise<Places[Kind][]> {
  const query = db(`${kind}s`)
    .where({ [columnOf(name)]: name })
    .limit(2)
  if (organizationId !== undefined) query.where({ organizationId })
  if (integration !== undefined) {
    const installed = db('installationTargets')
      .join('installations', 'installations.id', 'installationTargets.installationId')
      .where({ kind, integration })
      .select('targetId')
    if (installationId !== undefined) installed.where({ installationId })
    query.whereIn('id', installed)
  }
  return query
}
