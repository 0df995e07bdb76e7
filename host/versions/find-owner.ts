import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Db } from '../db/db.ts'
import { findIntegration, findSpelling } from '../db/queries/integrations.ts'
import { findOrganization, listOrganizations } from '../db/queries/records/organizations.ts'
import { type Complaint, type Problem, problemAt } from '../manifest/problems/problem.ts'
import type { Spots } from '../manifest/read-manifest.ts'

/**
 * The organization that a manifest names, as far as this Annex has it. A problem where the integration's name belongs to
 * another organization, whose installations and secrets would change hands with the folder, or is there in another spelling.
 */
export async function findOwner(
  db: Db,
  spots: Spots,
  { name, organization }: Manifest,
): Promise<{ organizationId: string } | { problem: Problem }> {
  const owner = await findOrganization(db, organization)
  if (owner === undefined) {
    return { problem: problemAt(spots.organization, await unknownOrganization(db, organization)) }
  }
  const spelling = await findSpelling(db, name)
  if (spelling !== undefined && spelling !== name) {
    return { problem: problemAt(spots.name, otherSpelling(spelling)) }
  }
  const known = await findIntegration(db, name)
  if (known !== undefined && known.organizationId !== owner.id) {
    return { problem: problemAt(spots.name, takenName(name)) }
  }
  return { organizationId: owner.id }
}

async function unknownOrganization(db: Db, organization: string): Promise<Complaint> {
  const known = (await listOrganizations(db)).map(({ subdomain }) => subdomain).join(', ')
  return {
    message: `there is no organization "${organization}" on this Annex; there are ${known}`,
    hint: `name one of them, or make it with: npx annex orgs create ${organization}`,
  }
}

const takenName = (name: string): Complaint => ({
  message: `the name "${name}" belongs to an integration of another organization`,
  hint: 'give this one another name: installations and secrets stay with their owner',
})

const otherSpelling = (spelling: string): Complaint => ({
  message: `there is an integration "${spelling}" already`,
  hint: `write it as "${spelling}", or take another name: names are unique regardless of case`,
})
