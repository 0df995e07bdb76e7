import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findCaller, issueToken } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { findOrganization, insertOrganization, type Organization } from '../db/queries/organizations.ts'
import { insertSite, insertSpace, listSites, listSpaces, moveFolder } from '../db/queries/places.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { isShortName, longestShortName } from '../http/body.ts'

/** Something to install into from the first minute. */
export type Samples = { organization: string; site: string; space: string }

const sampleFolder = fileURLToPath(new URL('sample-pages', import.meta.url))
/** Where versions up to 0.2.0 had these pages. Their databases name this folder. */
const formerSampleFolder = fileURLToPath(new URL('../../content/handbook', import.meta.url))

/**
 * The operator's organization. At the first start it is made, with a sample site and a sample space.
 *
 * @throws AnnexError `settings_invalid` when it is to be made, and no organization can be called so. One that is there may be: it
 *   was made when any name would do
 */
export async function ensureOperator(
  db: Db,
  subdomain: string,
): Promise<{ organization: Organization; samples: Samples }> {
  // Of hosts that start at once, the others wait for the first, and find what it has made.
  const organization = (await transact(db, make)) ?? (await findOrganization(db, subdomain))
  if (organization === undefined) throw new Error(`the organization ${subdomain} is neither there nor new`)
  const organizationId = organization.id
  if (!existsSync(formerSampleFolder)) await moveFolder(db, formerSampleFolder, sampleFolder)
  const first = { after: undefined, limit: 1 }
  const [site] = await listSites(db, organizationId, first)
  const [space] = await listSpaces(db, organizationId, first)
  return {
    organization,
    samples: { organization: organizationId, site: site?.id ?? '', space: space?.id ?? '' },
  }

  async function make(transaction: Db): Promise<Organization | undefined> {
    if (!isShortName(subdomain)) {
      if ((await findOrganization(transaction, subdomain)) !== undefined) return undefined
      throw noSubdomain(subdomain)
    }
    const created = await insertOrganization(transaction, { subdomain, title: 'Home' })
    if (created === undefined) return undefined
    const organizationId = created.id
    await insertSite(transaction, {
      organizationId,
      slug: 'sample',
      title: 'Sample site',
      visibility: 'public',
    })
    await insertSpace(transaction, {
      organizationId,
      slug: 'handbook',
      title: 'Sample handbook',
      visibility: 'public',
      folder: sampleFolder,
    })
    return created
  }
}

const noSubdomain = (text: string): AnnexError =>
  new AnnexError(
    'settings_invalid',
    `OPERATOR_ORGANIZATION: "${text}" is no subdomain: words of a-z and 0-9, joined by single hyphens, up to ${longestShortName} characters.`,
  )

/**
 * A token for the command line. Only the user who runs Annex can read its file, and that user can read the database too.
 */
export async function ensureCliToken(db: Db, dataDir: string): Promise<void> {
  const path = join(dataDir, 'cli.token')
  const kept = readToken(path)
  if (kept !== undefined && (await findCaller(db, kept)) !== undefined) return
  const { token } = await issueToken(db, { kind: 'cli', role: 'operator', label: 'command line' })
  writeFileSync(path, `${token}\n`, { mode: 0o600 })
}

function readToken(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
