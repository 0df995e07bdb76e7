import type { Db } from '../../db.ts'

/** An integration with the number of its deployed version, and its installations by their status. */
export type IntegrationSummary = {
  name: string
  /** The owner's subdomain. */
  organization: string
  number: number | null
  suspended: boolean
  active: number
  pending: number
  /** Paused or suspended. */
  held: number
}

/** The first integrations by name, and how many more there are. */
export async function summarizeIntegrations(
  db: Db,
  limit: number,
): Promise<{ integrations: IntegrationSummary[]; more: number }> {
  const rows = await db('integrations')
    .join('organizations', 'organizations.id', 'integrations.organizationId')
    .leftJoin('versions', 'versions.id', 'integrations.versionId')
    .orderBy('name')
    .limit(limit)
    .select('name', 'number', 'suspendedAt', 'subdomain')
  const counted: { integration: string; status: string; count: string | number }[] = await db('installations')
    .whereIn(
      'integration',
      rows.map(({ name }) => name),
    )
    .groupBy('integration', 'status')
    .select('integration', 'status')
    .count({ count: '*' })
  const countOf = (name: string, isCounted: (status: string) => boolean) =>
    counted
      .filter(({ integration, status }) => integration === name && isCounted(status))
      .reduce((sum, { count }) => sum + Number(count), 0)
  const integrations = rows.map(({ name, number, suspendedAt, subdomain }) => ({
    name,
    organization: subdomain,
    number,
    suspended: suspendedAt !== null,
    active: countOf(name, (status) => status === 'active'),
    pending: countOf(name, (status) => status === 'pending'),
    held: countOf(name, (status) => status !== 'active' && status !== 'pending'),
  }))
  const [all] = await db('integrations').count({ count: '*' })
  return { integrations, more: Number(all?.count ?? 0) - integrations.length }
}
