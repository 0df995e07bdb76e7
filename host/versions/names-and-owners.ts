import type { Db } from '../db/db.ts'
import type { IntegrationRow } from '../db/queries/integrations.ts'
import { findOrganization, listOrganizations, type Organization } from '../db/queries/organizations.ts'
import { type Complaint, problemAt } from '../manifest/problem.ts'
import type { FolderReading } from '../manifest/read-folders.ts'
import type { ManifestFrames, ManifestReading } from '../manifest/read-manifest.ts'
import { isOperatorsOwn, type Operator } from '../manifest/read-options.ts'

/** A reading with the organization that its manifest names. */
export type OwnedReading = FolderReading & { organizationId?: string }

/**
 * Finds the organization that each manifest names. Refuses a manifest whose organization is unknown, or whose name belongs
 * to another organization or differs in case from a stored one. Installations and secrets must not change hands with a
 * folder.
 */
export async function findOwners(
  db: Db,
  stored: readonly IntegrationRow[],
  readings: readonly FolderReading[],
  operator: Operator,
): Promise<OwnedReading[]> {
  const byName = new Map(stored.map((row) => [row.name, row]))
  const spellings = new Map(stored.map(({ name }) => [name.toLowerCase(), name]))
  const organizations = new Map<string, Promise<Organization | undefined>>()
  const findOnce = (name: string) => {
    const found = organizations.get(name) ?? findOrganization(db, name)
    organizations.set(name, found)
    return found
  }
  return Promise.all(readings.map(findOwner))

  async function findOwner(reading: FolderReading): Promise<OwnedReading> {
    if (reading.manifest === undefined) return reading
    const { name, organization } = reading.manifest
    const owner = await findOnce(organization)
    if (owner === undefined)
      return refuse(reading, 'organization', await toUnknownOrganization(db, organization))
    // Attack: an external id changes hands between the reading, which allows internal scopes, and here.
    const { operatorOrganizationId = owner.id } = operator
    if (isOperatorsOwn(reading.manifest, operator) && owner.id !== operatorOrganizationId)
      return refuse(reading, 'organization', toChangedOwner(organization))
    const row = byName.get(name)
    const spelling = spellings.get(name.toLowerCase())
    if (row === undefined && spelling !== undefined) return refuse(reading, 'name', toOtherSpelling(spelling))
    if (row !== undefined && row.organizationId !== owner.id)
      return refuse(reading, 'name', toTakenName(name))
    return { ...reading, organizationId: owner.id }
  }
}

/** Refuses all manifests that share a name, case ignored: Annex cannot know which one is meant. */
export function checkUniqueNames<Reading extends ManifestReading>(
  readings: Reading[],
): (Reading | ManifestReading)[] {
  const byName = Map.groupBy(
    readings.filter((reading) => reading.manifest !== undefined),
    (reading) => reading.manifest?.name.toLowerCase(),
  )
  return readings.map((reading) => {
    if (reading.manifest === undefined) return reading
    const { name } = reading.manifest
    const others = (byName.get(name.toLowerCase()) ?? []).filter((other) => other !== reading)
    if (others.length === 0) return reading
    const message = `the name "${name}" is also that of ${others.map((other) => other.file).join(', ')}`
    return refuse(reading, 'name', { message, hint: 'give one of them another name' })
  })
}

/** The reading without its manifest, with an error at a field. */
function refuse(
  reading: ManifestReading & { frames: ManifestFrames },
  field: Exclude<keyof ManifestFrames, 'ids'>,
  complaint: Complaint,
): ManifestReading {
  const { folder, file, problems, frames } = reading
  return { folder, file, problems: [...problems, problemAt(frames[field], complaint)] }
}

const mostNamed = 20

async function toUnknownOrganization(db: Db, organization: string): Promise<Complaint> {
  const known = (await listOrganizations(db, {}, { after: undefined, limit: mostNamed + 1 })).map(
    ({ subdomain }) => subdomain,
  )
  const names = known.slice(0, mostNamed).join(', ') + (known.length > mostNamed ? ' and others' : '')
  return {
    message: `there is no organization "${organization}" on this Annex; there are ${names}`,
    hint: `name one of them, or make it with: npx annex orgs create ${organization}`,
  }
}

const toChangedOwner = (organization: string): Complaint => ({
  message: `"${organization}" became the name of another organization while the folder was read`,
  hint: 'load it again: npx annex reload',
})

const toTakenName = (name: string): Complaint => ({
  message: `the name "${name}" belongs to an integration of another organization`,
  hint: 'give this one another name: installations and secrets stay with their owner',
})

const toOtherSpelling = (spelling: string): Complaint => ({
  message: `there is an integration "${spelling}" already`,
  hint: `write it as "${spelling}", or take another name: names are unique regardless of case`,
})
