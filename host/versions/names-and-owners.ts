import type { Db } from '../db/db.ts'
import { findIntegration, findSpelling } from '../db/queries/integrations.ts'
import { findOrganization, listOrganizations } from '../db/queries/records/organizations.ts'
import { type Complaint, problemAt, type Spot } from '../manifest/problem.ts'
import type { FolderReading } from '../manifest/read-folder.ts'

/** A reading with the organization that its manifest names. */
export type OwnedReading = FolderReading & { organizationId?: string }

/**
 * Finds the organization that a manifest names. The manifest is taken away when there is no such organization, when the
 * integration's name is there in another spelling, or belongs to another organization: its installations and secrets would
 * change hands with the folder.
 */
export async function findOwner(db: Db, reading: FolderReading): Promise<OwnedReading> {
  if (reading.manifest === undefined) return reading
  const { spots } = reading
  const { name, organization } = reading.manifest
  const owner = await findOrganization(db, organization)
  if (owner === undefined)
    return refuse(reading, spots.organization, await unknownOrganization(db, organization))
  const spelling = await findSpelling(db, name)
  if (spelling !== undefined && spelling !== name) return refuse(reading, spots.name, otherSpelling(spelling))
  const known = await findIntegration(db, name)
  if (known !== undefined && known.organizationId !== owner.id)
    return refuse(reading, spots.name, takenName(name))
  return { ...reading, organizationId: owner.id }
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

const refuse = ({ file, problems }: FolderReading, spot: Spot, complaint: Complaint): FolderReading => ({
  file,
  problems: [...problems, problemAt(spot, complaint)],
})
