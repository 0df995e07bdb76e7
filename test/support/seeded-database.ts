import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecretBox } from '../../host/access/secret-box.ts'
import type { Db } from '../../host/db/db.ts'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { insertInstallation } from '../../host/db/queries/installations.ts'
import { ensureIntegration, findIntegration } from '../../host/db/queries/integrations.ts'
import { insertOrganization } from '../../host/db/queries/organizations.ts'
import { useSealer } from '../../host/db/sealed-json.ts'
import { createTestDatabase } from './test-database.ts'

type Installed = { organizationId: string; installationId: string }

export type Seeded = {
  database: Database
  db: Db
  organizationId: string
  installationId: string
  /** Adds another organization, with an installation of the same integration. */
  addOrganization: (subdomain: string) => Promise<Installed>
  /** Adds a receiver of the installation. */
  addReceiver: (id: string, state: string) => Promise<void>
  close: () => Promise<void>
}

/**
 * A database of a test's own with an organization and an installation, and nothing that works on it.
 *
 * @param toUrl another way to it
 */
export async function openSeeded(toUrl = async (url: string) => url): Promise<Seeded> {
  const ends = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'annex-test-'))
  ends.defer(() => rmSync(folder, { recursive: true }))
  const given = await createTestDatabase(folder)
  ends.defer(given.drop)
  const database = await openDatabase(await toUrl(given.url), folder)
  const { db, reader, longReader } = database
  useSealer([db, reader, longReader], createSecretBox(new Uint8Array(32)))
  ends.defer(database.close)
  const addOrganization = async (subdomain: string): Promise<Installed> => {
    const organizationId = (await insertOrganization(db, { subdomain, title: subdomain }))?.id ?? ''
    const keys = { signingSecret: 'sealed', loadedBy: null }
    const integration = { name: 'echo', organizationId, folder: 'echo', ...keys }
    // It is the first one's.
    if ((await findIntegration(db, 'echo')) === undefined) await ensureIntegration(db, integration)
    const installed = { integration: 'echo', organizationId, signingSecret: 'sealed' }
    return { organizationId, installationId: (await insertInstallation(db, installed))?.id ?? '' }
  }
  const { organizationId, installationId } = await addOrganization('home')
  return {
    ...{ database, db, organizationId, installationId, addOrganization },
    async addReceiver(id, state) {
      const key = { installationId, signedBy: 'installation', url: `http://${id}.example/` }
      await db('receivers').insert({ id, ...key, state, ordered: false, createdAt: 0, updatedAt: 0 })
    },
    close: () => ends.disposeAsync(),
  }
}
