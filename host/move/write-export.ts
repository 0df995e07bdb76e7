import { createHash, randomBytes } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import { stepNames } from '../db/migrations/index.ts'
import { listTargets } from '../db/queries/installed/installation-targets.ts'
import { findInstallation, type Installation } from '../db/queries/installed/installations.ts'
import {
  countMoved,
  findLastJob,
  type Page,
  readDeliveries,
  readEndpoints,
  readEvents,
  readJobs,
} from '../db/queries/moved/export-pages.ts'
import { findOrganization } from '../db/queries/records/organizations.ts'
import { findSite } from '../db/queries/records/sites.ts'
import { findSpace } from '../db/queries/records/spaces.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import { openPassphrase } from './passphrase.ts'
import { type ExportRecord, formatVersion, type MovedRecord } from './records.ts'
import {
  toDeliveryRecord,
  toEndpointRecord,
  toEventRecord,
  toInstallationRecord,
  toJobRecord,
  toTargetRecord,
} from './to-records.ts'

/** What is read at once, the text in bytes; a few pages are all that an export has in memory. */
const pageSize = { limit: 200, mostText: 4 * 1024 * 1024 }

type Given = { db: Db; box: SecretBox; installation: Installation; passphrase: string; version: string }

/**
 * The lines of an export, some at a time, as whoever reads asks for them: a header, all that there is of an installation
 * that is held, and the proof that this was all. When it has changed meanwhile, the last line is an error instead.
 */
export async function writeExport(given: Given): Promise<AsyncGenerator<string>> {
  const salt = randomBytes(16)
  const key = await openPassphrase(given.passphrase, salt)
  return write()

  async function* write(): AsyncGenerator<string> {
    const proof = key.createProof()
    const counts: Record<string, number> = {}
    const toLines = (records: readonly ExportRecord[]): string => {
      const text = records.map((record) => `${JSON.stringify(record)}\n`).join('')
      for (const { record } of records) counts[record] = (counts[record] ?? 0) + 1
      proof.update(text)
      return text
    }
    yield toLines([
      {
        ...{ record: 'header', format: formatVersion, annex: given.version, schema: stepNames.at(-1) ?? '' },
        ...{ salt: salt.toString('base64'), check: key.box.seal('check') },
      },
    ])
    try {
      const lastJob = await findLastJob(given.db, given.installation.id)
      const before = await readChangeable(given)
      yield toLines(await readRecords(given, key.box))
      for await (const records of readPages(given, lastJob)) yield toLines(records)
      await assertUnchanged(given, { before, lastJob, counts })
      const { header: _, ...ofRecords } = counts
      const end: ExportRecord = { record: 'end', counts: ofRecords, hmac: proof.digest('hex') }
      yield `${JSON.stringify(end)}\n`
    } catch (error) {
      if (!isAnnexError(error)) throw error
      yield `${JSON.stringify({ record: 'error', code: error.code, message: error.message })}\n`
    }
  }
}

/** What there are few of. */
async function readRecords(
  { db, box, installation }: Given,
  sealing: Pick<SecretBox, 'seal'>,
): Promise<MovedRecord[]> {
  const organization = await findOrganization(db, installation.organizationId)
  if (organization === undefined) throw new Error(`no organization of ${installation.id}`)
  const { id, subdomain, title } = organization
  const targets = await listTargets(db, { installationId: installation.id })
  const places = await Promise.all(targets.map((target) => readPlace(db, target)))
  const deployed = await findDeployed(db, installation.integration)
  const toSealed = { box, sealing }
  return [
    { record: 'organization', id, subdomain, title },
    ...places,
    { record: 'integration', name: installation.integration, digest: deployed?.version.digest ?? null },
    toInstallationRecord(installation, toSealed),
    ...targets.map((target) => toTargetRecord(target, toSealed)),
  ]
}

async function readPlace(
  db: Db,
  { kind, targetId }: { kind: 'site' | 'space'; targetId: string },
): Promise<MovedRecord> {
  const place = kind === 'site' ? await findSite(db, targetId) : await findSpace(db, targetId)
  if (place === undefined) throw new AnnexError('conflict', `There is no ${kind} ${targetId} any more.`)
  return { record: 'place', kind, id: place.id, slug: place.slug, title: place.title }
}

async function* readPages(given: Given, lastJob: string): AsyncGenerator<MovedRecord[]> {
  for await (const rows of allPages(given, readEndpoints)) yield rows.map(toEndpointRecord)
  for await (const rows of allPages(given, readEvents)) yield rows.map(toEventRecord)
  for await (const rows of allPages(given, readDeliveries)) yield rows.map(toDeliveryRecord)
  const readMovedJobs = (db: Db, page: Page) => readJobs(db, page, lastJob)
  for await (const rows of allPages(given, readMovedJobs)) yield rows.map(toJobRecord)
}

async function* allPages<Row extends { id: string }>(
  { db, installation }: Given,
  read: (db: Db, page: Page) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let after = ''
  for (;;) {
    const rows = await read(db, { installationId: installation.id, after, ...pageSize })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    after = last.id
  }
}

/** What may change of what is held, as one short text: by people, and by hosts that store what they have counted. */
async function readChangeable(given: Given): Promise<string> {
  const hash = createHash('sha256')
  const take = (records: readonly MovedRecord[]) => {
    // A version that is deployed meanwhile changes nothing of the installation.
    for (const one of records) if (one.record !== 'integration') hash.update(JSON.stringify(one))
  }
  // As they are: what is sealed is another text each time.
  take(await readRecords(given, { seal: (text) => text }))
  for await (const rows of allPages(given, readEndpoints)) take(rows.map(toEndpointRecord))
  return hash.digest('hex')
}

/** A person may have resumed or changed the installation, or a request that was being answered has stored something. */
async function assertUnchanged(
  given: Given,
  { before, lastJob, counts }: { before: string; lastJob: string; counts: Record<string, number> },
): Promise<void> {
  const { db } = given
  const { id } = given.installation
  const installation = await findInstallation(db, id)
  const { attempt: _, ...there } = await countMoved(db, id, lastJob)
  const isSame = Object.entries(there).every(([record, count]) => (counts[record] ?? 0) === count)
  const isHeld = installation?.status === 'moving'
  if (isHeld && isSame && (await readChangeable({ ...given, installation })) === before) return
  throw new AnnexError('conflict', `${id} has changed while it was exported. Export it again.`)
}
