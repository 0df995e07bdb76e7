import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Db } from '../db/db.ts'
import { findIntegration } from '../db/queries/integrations.ts'
import { findOrganization, listOrganizations } from '../db/queries/records/organizations.ts'
import { createProblem, type Problem } from '../manifest/problems/problem.ts'
import type { ManifestReading } from '../manifest/read-manifest.ts'
import { parseYaml } from '../manifest/yaml/parse-yaml.ts'
import { createLocator, findSpan } from '../manifest/yaml/source-positions.ts'

type Complaint = { pointer: string; message: string; hint: string }

/**
 * The organization that a manifest names, as far as this Annex has it, and unless the integration's name belongs to
 * another one: its installations and secrets would change hands with the folder.
 */
export async function findOwner(
  db: Db,
  reading: ManifestReading,
  { name, organization }: Manifest,
): Promise<{ organizationId: string } | { problem: Problem }> {
  const owner = await findOrganization(db, organization)
  if (owner === undefined) return complain(reading, await unknownOrganization(db, organization))
  const known = await findIntegration(db, name)
  if (known !== undefined && known.organizationId !== owner.id) return complain(reading, takenName(name))
  return { organizationId: owner.id }
}

async function unknownOrganization(db: Db, organization: string): Promise<Complaint> {
  const known = (await listOrganizations(db)).map(({ subdomain }) => subdomain).join(', ')
  return {
    pointer: '/organization',
    message: `there is no organization "${organization}" on this Annex; there are ${known}`,
    hint: `name one of them, or make it with: npx annex orgs create ${organization}`,
  }
}

const takenName = (name: string): Complaint => ({
  pointer: '/name',
  message: `the name "${name}" belongs to an integration of another organization`,
  hint: 'give this one another name: installations and secrets stay with their owner',
})

function complain({ file, source }: ManifestReading, complaint: Complaint): { problem: Problem } {
  const { pointer, message, hint } = complaint
  const { positions } = parseYaml(Buffer.from(source))
  const place = createLocator(source)(findSpan(positions, pointer, 'value'))
  return { problem: createProblem(file, source, place, { message, hint }) }
}
