import { createId } from '../ids.ts'
import type { Db } from '../open-database.ts'

/** `spec.md` section 3 names `active` alone; the others are decided in docs/decisions.md. */
export type InstallationStatus = 'pending' | 'active' | 'paused' | 'suspended'

export type Configuration = Record<string, unknown>

export type Installation = {
  id: string
  integration: string
  organizationId: string
  status: InstallationStatus
  statusReason: string | null
  configuration: Configuration
  externalIds: string[]
  /** Encrypted. */
  signingSecret: string
  createdAt: number
  updatedAt: number
}

/** @returns undefined when the organization has the integration already */
export async function insertInstallation(
  db: Db,
  given: { integration: string; organizationId: string; signingSecret: string },
): Promise<Installation | undefined> {
  const now = Date.now()
  const row = {
    id: createId('inst'),
    ...given,
    status: 'pending',
    statusReason: null,
    configuration: '{}',
    externalIds: '[]',
    createdAt: now,
    updatedAt: now,
  }
  const [inserted] = await db('installations')
    .insert(row)
    .onConflict(['integration', 'organizationId'])
    .ignore()
    .returning('*')
  return inserted && toInstallation(inserted)
}

export async function findInstallation(db: Db, id: string): Promise<Installation | undefined> {
  const row = await db('installations').where({ id }).first()
  return row && toInstallation(row)
}

export async function listInstallations(
  db: Db,
  where: { integration?: string; organizationId?: string },
): Promise<Installation[]> {
  const rows = await db('installations').where(where).orderBy('createdAt')
  return rows.map(toInstallation)
}

export async function updateInstallation(
  db: Db,
  id: string,
  change: Partial<Pick<Installation, 'status' | 'statusReason' | 'configuration' | 'externalIds'>>,
): Promise<void> {
  await db('installations').where({ id }).update(toRow(change))
}

/** The columns of a change to an installation, or to one of its targets. */
export function toRow(change: {
  status?: string
  statusReason?: string | null
  configuration?: Configuration
  externalIds?: string[]
}): Record<string, unknown> {
  const { configuration, externalIds, ...rest } = change
  return {
    ...rest,
    ...(configuration === undefined ? {} : { configuration: JSON.stringify(configuration) }),
    ...(externalIds === undefined ? {} : { externalIds: JSON.stringify(externalIds) }),
    updatedAt: Date.now(),
  }
}

type Row = Omit<Installation, 'configuration' | 'externalIds'> & {
  configuration: string
  externalIds: string
}

function toInstallation(row: Row): Installation {
  return { ...row, configuration: JSON.parse(row.configuration), externalIds: JSON.parse(row.externalIds) }
}
