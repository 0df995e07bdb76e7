import { readFileSync } from 'node:fs'
import { openSecretBox } from '../../../host/access/open-secret-box.ts'
import { createSigningSecret } from '../../../host/access/secret-box.ts'
import { createId } from '../../../host/db/ids.ts'
import { openDatabase } from '../../../host/db/open-database.ts'
import { writePlugin } from '../../support/plugin-folder.ts'
import { type AnnexFolders, createFolders, startAnnex } from './start-annex.ts'

export type Seeded = { folders: AnnexFolders; paths: string[] }

const echo = readFileSync(new URL('../../../plugins/echo/index.ts', import.meta.url), 'utf8')

/**
 * The folders of an Annex with so many integrations like `plugins/echo`, each installed in so many organizations: by the
 * database, as each installation by the API would be set up at once, and with that be loaded.
 *
 * @returns the endpoints' paths, shuffled
 */
export async function seedAnnex(count: { integrations: number; organizations: number }): Promise<Seeded> {
  const folders = createFolders()
  const names = Array.from({ length: count.integrations }, (_none, index) => `echo-${index}`)
  for (const name of names)
    writePlugin(folders.pluginsDir, name, { script: `${echo}\nexport const is = '${name}'\n` })
  try {
    const annex = await startAnnex(folders)
    await annex.close()
    return { folders, paths: await insertAll(folders.dataDir, names, count.organizations) }
  } catch (error) {
    folders.remove()
    throw error
  }
}

const rowsAtOnce = 50

async function insertAll(dataDir: string, names: string[], organizations: number): Promise<string[]> {
  const { db, close } = await openDatabase('', dataDir)
  try {
    const signingSecret = (await openSecretBox(db, '', dataDir)).seal(createSigningSecret())
    const createdAt = Date.now()
    const owners = Array.from({ length: organizations }, (_none, index) => ({
      id: createId('org'),
      subdomain: `organization-${index}`,
      title: `Organization ${index}`,
      createdAt,
    }))
    const installations = owners.flatMap(({ id: organizationId }) =>
      names.map((integration) => ({
        ...{ id: createId('inst'), integration, organizationId, createdAt },
      })),
    )
    const accounts = installations.map(({ id: installationId }) => ({
      ...{ installationId, kind: 'account', placeId: '', status: 'active', signingSecret },
      ...{ configuration: '{}', externalIds: '[]', createdAt, updatedAt: createdAt },
    }))
    await db.batchInsert('organizations', owners, rowsAtOnce)
    await db.batchInsert('installations', installations, rowsAtOnce)
    await db.batchInsert('levels', accounts, rowsAtOnce)
    return shuffle(installations.map(({ integration, id }) => `/x/${integration}/${id}`))
  } finally {
    await close()
  }
}

/** Fisher and Yates. */
export function shuffle<T>(values: readonly T[]): T[] {
  const shuffled = [...values]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1))
    ;[shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T]
  }
  return shuffled
}
